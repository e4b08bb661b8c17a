-- leave.lua: a waiter goes away without a job (timeout, exception, stop). If it was just woken, or was the one to look
-- next, somebody else takes over.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] waiter
-- Returns {"OK"}
-- Cost    O(log N)
--@include clock
--@include keys
--@include next_due
--@include wake
call('ZREM', waiters, ARGV[2])
local paused = call('HGET', ledger, 'paused')
if not paused or paused ~= 'forever' then
  local soonest = next_due(waiting, reserved, later, ripe)
  if soonest then wake(soonest) end
end
return { 'OK' }
