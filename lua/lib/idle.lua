-- lib/idle.lua: registers a waiter that found nothing, and returns for how long it may sleep (µs; -1: nothing is coming). One waiter looks at
-- the next moment, a second one 200 ms later; the others sleep for `longest_us`, so that a due job does not wake a herd.
-- `longest_us` 0: it waits no longer.
local function idle(waiter, soonest, longest_us)
  if waiter ~= '' then
    try('ZREM', waiters, waiter)
    if longest_us > 0 then
      local at = now + longest_us
      if soonest and soonest < at then
        if not is_covered(soonest, 0) then
          at = math.max(soonest, now)
        elseif not is_covered(soonest + SECOND_LOOK_US, 1) then
          at = math.min(at, soonest + SECOND_LOOK_US)
        end
      end
      try('ZADD', waiters, int(at), waiter)
      return at - now
    end
    if soonest then wake(soonest) end
  end
  return soonest and soonest < math.huge and math.max(0, soonest - now) or -1
end
