-- lib/reserve_end.lua: the end of a reserve.lua that leases nothing, or that has somebody else look at the next moment.
--@include next_due
--@include wake
--@include idle
if count > 0 and most ~= '0' then
  -- This waiter is busy: another one must look at the next moment, and at a lease that ends before idle consumers check again.
  try('ZREM', waiters, waiter)
  local soonest = next_due()
  if soonest then wake(soonest) end
  return reply
end
if is_let_in then wake(now) end
if count > 0 then
  if waiter ~= '' then
    try('ZREM', waiters, waiter)
    wake(now) -- the job is still there for others
  end
  return { 'READY', lost }
end
if not picked or has_dropped then return { 'AGAIN', lost } end
call('HDEL', leases, '\n' .. consumer)
local wait_us = idle(waiter, closed_until or next_due(), ARGV[8] + 0)
return { closed_until and 'PAUSED' or 'EMPTY', lost, int(wait_us) }
