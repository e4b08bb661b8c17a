-- lib/wake.lua: makes sure that a live waiter looks at `due`. A waiter is known by the time at which it will look
-- by itself; it hears on its own channel, so that one push wakes one of them. Never fails the operation.
-- Whether somebody listens who will look then: it is told so again, which changes nothing.
local function is_there(waiter, at)
  return try('PUBLISH', waiters .. ':' .. waiter, int(math.max(0, at * 1000 - now_us))) ~= 0
end
-- Whether somebody will have looked by then. Who should have looked a second ago is gone, and so is who does not listen, unless
-- nobody is asked.
local function is_covered(due, unasked)
  for _ = 1, 100 do
    local first = try('ZRANGE', waiters, 0, 0, 'WITHSCORES')
    local at = tonumber(first[2])
    if not at or at > due then return false end
    if at >= now - 1000 and (unasked or is_there(first[1], at)) then return true end
    try('ZREM', waiters, first[1])
  end
end
local function wake(due)
  -- Before what is far, somebody glances at the queue and finds out.
  if due > now and is_covered(due, due > now + 3000) then return end
  for _ = 1, 100 do
    local last = try('ZRANGE', waiters, -1, -1)[1]
    if not last then return end
    if due > now then try('ZADD', waiters, int(due), last) else try('ZREM', waiters, last) end
    if is_there(last, due) then return end
    try('ZREM', waiters, last) -- nobody listens there any more
  end
end
