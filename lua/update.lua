-- update.lua: new content, and a new time, for a job that the caller holds, or that nobody holds; what is not given stays.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] id   ARGV[3] lease of the caller; '' if no consumer may hold the job
-- ARGV[4] the digest of the record that the caller has read, or ''   ARGV[5] the due time that the job must have, or ''
-- ARGV[6] due, of a job that nobody holds: a delay (µs), or '@' and a moment; '' keeps it
-- ARGV[7] options with their length in front, '' for the defaults   ARGV[8] payload; left out where it stays
-- Returns {"OK"} | {"MISSING"} not there, or held | {"LOST"} not ours any more | {"CHANGED"} not as the caller says
--       | {"AGAIN"} a bounded part of the housekeeping is done. All but the first have not changed the job
-- Cost    O(log N)
--@include clock
--@include due_at
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
--@include move
-- What a record is, but for its flags, which scripts change.
local function digest(record) return redis.sha1hex(string.sub(record, 2)) end
local id, lease = ARGV[2], ARGV[3]
if lease == '' and reclaim() then return { 'AGAIN' } end
local record = call('HGET', jobs, id)
local payload, old_due, where = record and payload_at(record), waits(id)
local since = not old_due and call('ZSCORE', buried, id)
if lease ~= '' then
  if call('HGET', leases, id) ~= lease or not payload then return { 'LOST' } end
elseif not payload or not old_due and not since or call('ZSCORE', reserved, id) then
  return { 'MISSING' }
end
if ARGV[4] ~= '' and digest(record) ~= ARGV[4] or ARGV[5] ~= '' and (old_due or since + 0) ~= ARGV[5] + 0 then
  return { 'CHANGED' }
end
local is_moved = ARGV[6] ~= ''
if is_moved then
  --@include check_types
  --@include check_group_types
  --@include allow_when_full
end
local last, flags = (read_options(record)), string.byte(record)
local traits = string.sub(record, last + 1, payload - 1)
flags = flags - flags % 2 + (ARGV[7] ~= '' and HAS_OPTIONS or 0)
local new = string.char(flags) .. string.sub(record, 2, 7) .. ARGV[7] .. traits .. (ARGV[8] or string.sub(record, payload))
call('HSET', jobs, id, new)
if is_moved then move(id, new, due_at(ARGV[6]), old_due, where) end
return { 'OK' }
