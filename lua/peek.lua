-- peek.lua: look at one job without holding it.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] id   ARGV[3] rank of the first lease slot to look through, 0 first
-- Returns {"JOB", state, id, record, due, history, attempts, deadline} attempts and deadline: '' unless reserved
--       | {"MISSING"} | {"AGAIN"} a bounded part of the housekeeping is done | {"NEXT", rank} held: look on from there
-- Cost    O(log N); 200 lease slots a call for a held job
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include lease
--@include reclaim
--@include held
if reclaim() then return { 'AGAIN' } end
local id = ARGV[2]
local record = call('HGET', jobs, id)
if not record then return { 'MISSING' } end
local h, packed = read_history(id)
local due = options(record) and waits(id, record, packed and true)
if due then
  return { 'JOB', due <= now and 'ready' or 'delayed', id, record, int(due), packed or '', '', '' }
end
if call('ZSCORE', buried, id) then return { 'JOB', 'buried', id, record, int(due_of(record, h, packed)), packed or '', '', '' } end
local reply
local rank = held({ [id] = true }, ARGV[3] + 0, function(_, _, entry)
  due = due_of(record, h, packed)
  reply = { 'JOB', 'reserved', id, record, int(due), packed or '', int(h.attempts + 1), int(entry.deadline) }
end)
if reply then return reply end
if rank then return { 'NEXT', int(rank) } end
return { 'MISSING' }
