-- resume.lua: reserve serves again, the queue or a group; a waiter looks at once.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] group, or '' for the queue
-- Returns {"OK"}
-- Cost    O(log N)
--@include clock
--@include keys
--@include check_schema
local is_open = nil
if ARGV[2] == '' then
  is_open = call('HDEL', limits, '\n\n') == 1
else
  --@include check_group_types
  is_open = call('ZREM', spent, ARGV[2] .. '\n') == 1
  --@include book
  line_up(ARGV[2], now)
end
if is_open then
  --@include wake
  wake(now)
end
return { 'OK' }
