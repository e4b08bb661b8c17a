-- kick_job.lua: a given buried or delayed job becomes ready now.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] id   ARGV[3] 1: attempts start anew
-- Returns {"OK"} | {"MISSING"} neither buried nor delayed | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log N)
--@include clock
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
--@include kick
--@include check_types
--@include check_group_types
if reclaim() then return { 'AGAIN' } end
if not kick(ARGV[2], ARGV[3] == '1') then return { 'MISSING' } end
wake(now)
return { 'OK' }
