-- fail.lua: an attempt failed: back after the delay, or buried when no attempt is left.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] slot   ARGV[3] token   ARGV[4] delay (ms)   ARGV[5] reason, or ''
-- Returns {"OK", due} | {"BURIED"} | {"LOST"} not ours any more, nothing changed
-- Cost    O(log N)
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include lease
local entry, slot_record = find_lease(ARGV[2], ARGV[3])
local record = entry and call('HGET', jobs, entry.id)
if not record then return { 'LOST' } end
local h = read_history(entry.id)
local _, max_attempts = options(record)
local due = due_in(ARGV[4])
local spent = max_attempts and max_attempts > 0 and entry.attempts >= max_attempts
--@include probe
--@include unlock
h.attempts, h.due = entry.attempts, spent and entry.due or due
if spent then
  set_aside(entry.id, h, ARGV[5])
else
  h.error = ARGV[5]
  place(entry.id, record, due, true)
  write_history(entry.id, h)
end
store_slot(ARGV[2], without(slot_record, entry))
call('HINCRBY', ledger, 'failed', 1)
if spent then return { 'BURIED' } end
--@include wake
wake(due)
return { 'OK', int(due) }
