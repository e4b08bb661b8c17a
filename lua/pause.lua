-- pause.lua: reserve gives nothing until resume, or until the time has passed.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] for how long (ms), or '' until resume
-- Returns {"OK"}
-- Cost    O(1)
--@include clock
--@include keys
local ends = ARGV[2] == '' and 'forever' or int(math.ceil(now_us / 1000) + ARGV[2])
--@include head
--@include unlock
call('HSET', ledger, 'paused', ends)
set_kind(2, true)
return { 'OK' }
