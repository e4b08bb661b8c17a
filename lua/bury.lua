-- bury.lua: set a reserved job aside until it is kicked.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] id   ARGV[3] lease   ARGV[4] a consumer that has had the answer to its last reserve, or ''
-- ARGV[5] reason, or ''   ARGV[6] the counter: buried or failed, and the bucket of the run time; buried alone for a job that never ran
-- Returns {"OK"} | {"LOST"} not ours any more, nothing changed
-- Cost    O(log N)
--@include clock
--@include keys
--@include record
--@include history
--@include lease
--@include ends
--@include bury
local id = ARGV[2]
local record = call('HGET', leases, id) == ARGV[3] and call('HGET', jobs, id)
if not record then
  forget_call(ARGV[4])
  return { 'LOST' }
end
local old_due, _, _, marks = read_lease(ARGV[3])
local past = read_history(id, old_due)
call('HLEN', meta) -- of a wrong type it must show before the job changes; the others do, where the job is read or placed
if string.find(marks, 'g', 1, true) then
  --@include check_group_types
end
--@include allow_when_full
past.attempts = past.attempts + 1
bury(id, record, past, ARGV[5])
local is_let_in = end_leases({ id }, { ARGV[3] })
forget_call(ARGV[4])
call('HINCRBY', meta, ARGV[6], 1)
if is_let_in then
  --@include wake
  wake(now)
end
return { 'OK' }
