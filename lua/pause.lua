-- pause.lua: reserve gives nothing, or nothing of a group, until resume, or until the time has passed.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] for how long (µs), or '' until resume   ARGV[3] group, or '' for the queue
-- Returns {"OK"}
-- Cost    O(log N)
--@include clock
--@include keys
--@include wake
--@include book
--@include check_schema
--@include allow_when_full
local ends, group = ARGV[2] ~= '' and now + ARGV[2], ARGV[3]
if group ~= '' then
  --@include check_group_types
  call('ZADD', spent, ends and int(ends) or 'inf', group .. '\n')
  line_up(group, ends or now) -- it may have been closed for longer
  if ends then wake(ends) end
  return { 'OK' }
end
call('HSET', limits, '\n\n', ends and int(ends) or 'forever')
if ends then wake(ends) end -- waiters may expect the end of a longer pause
return { 'OK' }
