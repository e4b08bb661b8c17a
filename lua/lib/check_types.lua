-- lib/check_types.lua: meets a key of a wrong type (WRONGTYPE) before the script changes anything. One of `waiters` fails nothing (lib/wake.lua).
for _, key in ipairs({ waiting, reserved, buried, prioritized, prioritized_ready }) do call('ZCARD', key) end
for _, key in ipairs({ jobs, leases, meta, history }) do call('HLEN', key) end
