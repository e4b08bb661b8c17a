-- lib/wake.lua: has an idle consumer look at a due time, and a second one 200 ms later, in case the first is stopped or busy. `waiters` says
-- when each of them looks by itself; each hears on its own channel after how many microseconds to look instead. PUBLISH says whether
-- anybody listens there, so consumers that died are skipped and removed. Waking never fails the operation.
local HORIZON_US, SECOND_LOOK_US, GONE_AFTER_US = 6000000, 200000, 1000000

local function listens(waiter, at)
  return try('PUBLISH', waiters .. ':' .. waiter, int(math.max(0, at - now))) ~= 0
end
-- Whether the waiter of this rank is alive and looks by then.
local function is_covered(at, rank)
  for _ = 1, 100 do
    local found = try('ZRANGE', waiters, rank, rank, 'WITHSCORES')
    local own = tonumber(found[2])
    if not own or own > at then return false end
    if own > now - GONE_AFTER_US and listens(found[1], own) then return true end
    try('ZREM', waiters, found[1])
  end
end
-- Unless the waiter of this rank looks by then, has the one that would look last do it.
local function cover(at, rank)
  if at > now and is_covered(at, rank) then return end
  for _ = 1, 100 do
    if try('ZCARD', waiters) == rank then return end
    local last = try('ZRANGE', waiters, -1, -1)[1]
    if not last then return end
    if at > now then try('ZADD', waiters, int(at), last) else try('ZREM', waiters, last) end
    if listens(last, at) then return end
    try('ZREM', waiters, last)
  end
end
-- An idle consumer checks every five seconds by itself, so a script wakes none for a moment that is further away.
local function wake(due)
  if due > now + HORIZON_US or try('ZCARD', waiters) == 0 then return end
  local at = math.max(due, now)
  cover(at, 0)
  cover(at + SECOND_LOOK_US, at > now and 1 or 0)
end
