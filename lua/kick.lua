-- kick.lua: buried jobs become ready, oldest first.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] how many to look at, at most 200   ARGV[3] 1: attempts start anew   ARGV[4] how many to pass over
-- Returns {"OK", kicked, looked, left} fewer looked at than asked for: there are no more. left: jobs whose record cannot be read; they
--         stay buried
--       | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(J log N) for J jobs looked at
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
local ids = call('ZRANGE', buried, ARGV[4], ARGV[4] + ARGV[2] - 1)
local kicked, left = 0, 0
for _, id in ipairs(ids) do
  if kick(id, ARGV[3] == '1') then
    kicked = kicked + 1
  elseif call('HEXISTS', jobs, id) == 1 then
    left = left + 1
  else
    call('ZREM', buried, id) -- an entry without a record means nothing
    call('HDEL', history, id)
  end
end
if kicked > 0 then
  wake(now)
end
return { 'OK', kicked, #ids, left }
