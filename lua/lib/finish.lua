-- lib/finish.lua: the end of jobs that lie in `reserved`. The records go before the places: an entry without a record means nothing.
-- `aged` are those that have a history.
local function finish(ids, aged)
  call('HDEL', jobs, unpack(ids))
  if aged[1] then call('HDEL', history, unpack(aged)) end
  call('ZREM', reserved, unpack(ids))
  call('HDEL', leases, unpack(ids))
end
