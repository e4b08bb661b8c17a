-- resume.lua: reserve serves again; a waiter looks at once.
-- KEYS    all
-- ARGV[1] clock offset (ms)
-- Returns {"OK"}
-- Cost    O(log N)
--@include clock
--@include keys
--@include head
if call('HDEL', ledger, 'paused') == 1 then
  set_kind(2, false)
  --@include wake
  wake(now)
end
return { 'OK' }
