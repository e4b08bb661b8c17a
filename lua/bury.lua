-- bury.lua: set a reserved job aside until somebody kicks it.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] slot   ARGV[3] token   ARGV[4] reason, or ''
-- Returns {"OK"} | {"LOST"} not ours any more, nothing changed
-- Cost    O(log N)
--@include clock
--@include keys
--@include history
--@include lease
local entry, slot_record = find_lease(ARGV[2], ARGV[3])
if not entry or call('HEXISTS', jobs, entry.id) == 0 then return { 'LOST' } end
local h = read_history(entry.id)
--@include unlock
h.attempts, h.due = entry.attempts, entry.due
set_aside(entry.id, h, ARGV[4])
store_slot(ARGV[2], without(slot_record, entry))
return { 'OK' }
