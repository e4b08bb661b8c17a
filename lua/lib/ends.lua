-- lib/ends.lua: the one place where jobs leave RESERVED, and where they leave the queue. `held`: their leases, or false, in the order of ids.

-- The jobs lie in another place by now, or have ended.
local function end_leases(ids)
  call('ZREM', reserved, unpack(ids))
  call('HDEL', leases, unpack(ids))
end
-- Whether a lease has marks, which are its third word. A pattern would cost as much as the rest of an acknowledgement.
local function has_marks(lease)
  local before = string.find(lease, ' ', (string.find(lease, ' ', 1, true) or 0) + 1, true)
  return not before or string.byte(lease, before + 1) ~= 45
end
-- The records go before the places: an entry without a record means nothing. A job without marks has no history, unless nobody holds it.
local function end_jobs(ids, held)
  local aged = {}
  for n, id in ipairs(ids) do
    if not held[n] or has_marks(held[n]) then aged[#aged + 1] = id end
  end
  call('HDEL', jobs, unpack(ids))
  if aged[1] then call('HDEL', history, unpack(aged)) end
  end_leases(ids)
end
