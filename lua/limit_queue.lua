-- limit_queue.lua: the limits of all jobs of the queue together, from the next lease on.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] the limits (lib/limits.lua), or '' to forget them
-- Returns {"OK"}
-- Cost    O(log N)
--@include clock
--@include keys
--@include check_schema
--@include allow_when_full
if ARGV[2] == '' then
  call('HDEL', limits, '\n')
  call('ZREM', spent, '\n')
else
  call('HSET', limits, '\n', ARGV[2])
end
--@include wake
wake(now)
return { 'OK' }
