-- pause.lua: reserve gives nothing until resume, or until the time has passed.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] for how long (µs), or '' until resume
-- Returns {"OK"}
-- Cost    O(1)
--@include clock
--@include keys
--@include allow_when_full
local ends = ARGV[2] ~= '' and now + ARGV[2]
call('HSET', meta, 'paused', ends and int(ends) or 'forever')
if ends then
  --@include wake
  wake(ends) -- waiters may expect the end of a longer pause
end
return { 'OK' }
