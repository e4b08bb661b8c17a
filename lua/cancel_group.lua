-- cancel_group.lua: remove up to 500 jobs of a group: those that wait, and those that consumers hold where that is asked for.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] group   ARGV[3] 1: also those that are held
-- Returns {"OK", cancelled, 1 if more may be left} | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(J log N) for J jobs removed, and the leases that lib/forget_calls.lua reads
--@include clock
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
--@include remove
--@include check_types
--@include check_group_types
if reclaim() then return { 'AGAIN' } end
local group, ids, cancelled = ARGV[2], {}, 0
local first = '[' .. group .. (ARGV[3] == '1' and '\nh' or '\nr')
local entries = call('ZRANGEBYLEX', groups, first, '(' .. group .. '\nx', 'LIMIT', 0, 500)
for _, entry in ipairs(entries) do
  local kind = string.sub(entry, #group + 2, #group + 2)
  local id = string.sub(entry, #group + (kind == 'h' and 3 or kind == 'r' and 11 or 15))
  -- An entry without a record, or in the book of another group, means nothing.
  if group_of(call('HGET', jobs, id) or '') == group then ids[#ids + 1] = id else call('ZREM', groups, entry) end
end
if ids[1] then
  remove(ids)
  call('HINCRBY', meta, 'cancelled', #ids)
end
return { 'OK', #ids, #entries == 500 and 1 or 0 }
