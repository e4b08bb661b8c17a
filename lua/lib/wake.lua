-- lib/wake.lua: makes sure that a live waiter looks at `due`. A waiter is known by the time at which it will look
-- by itself; it hears on its own channel, so that one push wakes one of them. Never fails the operation.
-- Whether somebody listens who will look at `due`: it is told so again, which changes nothing.
local function is_there(waiter, due)
  return try('PUBLISH', waiters .. ':' .. waiter, int(math.max(0, due * 1000 - now_us))) ~= 0
end
local function wake(due)
  for _ = 1, 100 do
    local first = try('ZRANGE', waiters, 0, 0, 'WITHSCORES')
    if not first[1] then return end
    if tonumber(first[2]) < now - 1000 then
      try('ZREM', waiters, first[1]) -- it should have looked by now: its process is gone
    elseif due > now and tonumber(first[2]) <= due then
      -- Before that, somebody glances at the queue and finds out.
      if due > now + 3000 or is_there(first[1], tonumber(first[2])) then return end
      try('ZREM', waiters, first[1])
    else
      local last = try('ZRANGE', waiters, -1, -1)[1]
      if due > now then try('ZADD', waiters, int(due), last) else try('ZREM', waiters, last) end
      if is_there(last, due) then return end
      try('ZREM', waiters, last) -- nobody listens there any more
    end
  end
end
