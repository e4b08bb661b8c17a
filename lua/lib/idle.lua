-- lib/idle.lua: registers a waiter that found nothing, and returns for how long it may sleep (µs). Only one waiter
-- sleeps until the next moment; the others sleep `cap` ms, so that a due job does not wake a herd.
local function idle(waiter, soonest, cap)
  local wait_us = soonest and math.max(0, soonest * 1000 - now_us) or -1
  if waiter == '' then return wait_us end
  try('ZREM', waiters, waiter)
  if cap == 0 then
    if soonest then wake(soonest) end
    return wait_us
  end
  if wait_us < 0 or wait_us > cap * 1000 or is_covered(soonest, false) then wait_us = cap * 1000 end
  try('ZADD', waiters, int(now + math.ceil(wait_us / 1000)), waiter)
  return wait_us
end
