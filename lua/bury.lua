-- bury.lua: set a reserved job aside until somebody kicks it.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] slot   ARGV[3] token   ARGV[4] reason, or ''
-- Returns {"OK"} | {"LOST"} not ours any more, nothing changed
-- Cost    O(log N)
--@include clock
--@include keys
--@include record
--@include history
--@include lease
local entry = find_lease(ARGV[2], ARGV[3] + 0)
local record = entry and record_of(entry)
if not record then return { 'LOST' } end
local h, packed = read_history(entry.id)
--@include unlock
h.attempts, h.due = h.attempts + 1, due_of(record, h, packed)
set_aside(entry.id, h, ARGV[4])
end_lease(ARGV[2], entry)
return { 'OK' }
