-- lib/probe.lua: meets a key that holds something foreign (WRONGTYPE) before anything is changed.
for _, key in ipairs({ waiting, reserved, buried, later, ready, ripe }) do call('ZCARD', key) end
for _, key in ipairs({ jobs, ledger, history }) do call('HLEN', key) end
