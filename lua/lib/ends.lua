-- lib/ends.lua: the one place where jobs leave RESERVED, and where they leave the queue. `held`: their leases, or false, in the order of ids.

-- The jobs lie in another place by now, or have ended.
local function end_leases(ids)
  call('ZREM', reserved, unpack(ids))
  call('HDEL', leases, unpack(ids))
end
-- The records go before the places: an entry without a record means nothing. A job that nobody holds may have a history.
local function end_jobs(ids, held)
  local aged = {}
  for n, id in ipairs(ids) do
    if not held[n] or string.find(held[n], '^%S+ %S+ %a*h') then aged[#aged + 1] = id end
  end
  call('HDEL', jobs, unpack(ids))
  if aged[1] then call('HDEL', history, unpack(aged)) end
  end_leases(ids)
end
