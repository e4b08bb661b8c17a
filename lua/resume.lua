-- resume.lua: reserve serves again; a waiter looks at once.
-- KEYS    all
-- ARGV[1] clock offset (µs)
-- Returns {"OK"}
-- Cost    O(log N)
--@include clock
--@include keys
if call('HDEL', meta, 'paused') == 1 then
  --@include wake
  wake(now)
end
return { 'OK' }
