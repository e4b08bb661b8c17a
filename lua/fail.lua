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
local entry = find_lease(ARGV[2], ARGV[3] + 0)
local record = entry and record_of(entry)
if not record then return { 'LOST' } end
local h, packed = read_history(entry.id)
local _, max_attempts = options(record)
local due = due_in(ARGV[4])
h.attempts = h.attempts + 1
local spent = max_attempts and max_attempts > 0 and h.attempts >= max_attempts
--@include probe
--@include unlock
h.due = spent and due_of(record, h, packed) or due
if spent then
  set_aside(entry.id, h, ARGV[5])
else
  h.error = ARGV[5]
  place(entry.id, record, due, true)
  write_history(entry.id, h)
end
end_lease(ARGV[2], entry)
call('HINCRBY', ledger, 'failed', 1)
if spent then return { 'BURIED' } end
--@include wake
wake(due)
return { 'OK', int(due) }
