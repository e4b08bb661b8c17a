-- lib/done.lua: the end of jobs that no group or limit counts, which is lib/ends.lua with less to do.
call('HDEL', jobs, unpack(ids))
if aged then call('HDEL', history, unpack(aged)) end
call('ZREM', reserved, unpack(ids))
call('HDEL', leases, unpack(ids))
