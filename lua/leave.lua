-- leave.lua: a waiter goes away without a job (timeout, exception, stop). If a script has just woken it, or it was the waiter to look
-- next, another one takes over.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] waiter
-- Returns {"OK"}
-- Cost    O(log N)
--@include clock
--@include keys
--@include next_due
--@include pause_end
--@include wake
--@include allow_when_full
call('ZREM', waiters, ARGV[2])
local soonest = pause_end() or next_due()
if soonest then wake(soonest) end
return { 'OK' }
