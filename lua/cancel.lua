-- cancel.lua: remove up to 200 jobs in any state.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2…] ids, all different
-- Returns {"OK", cancelled}
-- Cost    O(I log N) for I ids, and the leases that lib/forget_calls.lua reads
--@include clock
--@include keys
--@include record
--@include place
--@include remove
--@include check_types
--@include check_group_types
local ids = {}
for n = 2, #ARGV do
  if call('HEXISTS', jobs, ARGV[n]) == 1 then ids[#ids + 1] = ARGV[n] end
end
if ids[1] then
  remove(ids)
  call('HINCRBY', meta, 'cancelled', #ids)
end
return { 'OK', #ids }
