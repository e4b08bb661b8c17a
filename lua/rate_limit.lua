-- rate_limit.lua: reserve gives nothing, or nothing of a group, for so long. Unlike pause.lua it never ends a pause sooner.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] for how long (µs)   ARGV[3] group, or '' for the queue
-- Returns {"OK"}
-- Cost    O(log N)
--@include clock
--@include keys
--@include check_schema
--@include pause_end
--@include allow_when_full
local ends, group = now + ARGV[2], ARGV[3]
if group ~= '' then
  call('ZADD', spent, 'GT', int(ends), group .. '\n')
elseif (pause_end() or 0) < ends then
  call('HSET', limits, '\n\n', int(ends))
  --@include wake
  wake(ends) -- waiters may expect the end of a longer pause
end
return { 'OK' }
