-- lib/check_group_types.lua: as check_types.lua, of the keys of groups: for a script that may meet a job of one.
for _, key in ipairs({ grouped, groups, line, spent }) do call('ZCARD', key) end
call('HLEN', limits)
