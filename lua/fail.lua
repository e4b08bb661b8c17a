-- fail.lua: an attempt failed: back after the delay, or buried when no attempt is left or the next one would come too late.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] id   ARGV[3] lease   ARGV[4] a consumer that has had the answer to its last reserve, or ''
-- ARGV[5] reason, or ''   ARGV[6] bucket of the run time   ARGV[7] delay (µs)
-- Returns {"OK", due} | {"BURIED"} | {"LOST"} not ours any more, nothing changed
-- Cost    O(log N)
--@include clock
--@include due_at
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include ends
--@include bury
--@include back
local id = ARGV[2]
local record = call('HGET', leases, id) == ARGV[3] and call('HGET', jobs, id)
if not record then
  forget_call(ARGV[4])
  return { 'LOST' }
end
local old_due, _, _, marks = read_lease(ARGV[3])
local past, _, max_attempts, priority = read_history(id, old_due), options(record)
local due = due_at(ARGV[7])
call('HLEN', meta) -- of a wrong type it must show before the job changes; the others do, where the job is read or placed
if string.find(marks, 'g', 1, true) then
  --@include check_group_types
end
--@include allow_when_full
past.attempts, past.error = past.attempts + 1, ARGV[5]
local is_spent, reason = max_attempts and max_attempts > 0 and past.attempts >= max_attempts, ARGV[5]
if not is_spent and priority and has_traits(string.byte(record)) then
  --@include moments
  is_spent = is_too_late(record, past, due)
  if is_spent and reason == '' then reason = TOO_LATE end
end
if is_spent then
  bury(id, record, past, reason)
else
  place_back(id, record, priority, due)
  write_history(id, record, past)
end
local is_let_in = end_leases({ id }, { ARGV[3] })
forget_call(ARGV[4])
call('HINCRBY', meta, 'failed' .. ARGV[6], 1)
--@include wake
if is_let_in then wake(now) end
if is_spent then return { 'BURIED' } end
wake(due)
return { 'OK', int(due) }
