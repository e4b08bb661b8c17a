-- update.lua: replace the payload of a job that the caller holds, or that nobody holds; its time and, unless given, its options stay.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] id   ARGV[3] lease of the caller; '' if no consumer may hold the job   ARGV[4] payload
-- ARGV[5] new options and ARGV[6] the ones that the caller has read, each with its length in front or '' for the defaults; or neither
-- Returns {"OK"} | {"MISSING"} not there, or held | {"LOST"} not ours any more | {"CHANGED"} it has other options by now
--       | {"AGAIN"} a bounded part of the housekeeping is done. All but the first have not changed the job
-- Cost    O(log N)
--@include clock
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
local id, lease = ARGV[2], ARGV[3]
if lease == '' and reclaim() then return { 'AGAIN' } end
local record = call('HGET', jobs, id)
local payload, is_free = record and payload_at(record), waits(id) or call('ZSCORE', buried, id)
if lease ~= '' then
  if call('HGET', leases, id) ~= lease or not payload then return { 'LOST' } end
elseif not payload or not is_free or call('ZSCORE', reserved, id) then
  return { 'MISSING' }
end
local last, flags = (read_options(record)), string.byte(record)
local kept, traits = string.sub(record, 8, last), string.sub(record, last + 1, payload - 1)
if ARGV[6] and kept ~= ARGV[6] then return { 'CHANGED' } end
if ARGV[5] then
  flags, kept = flags - flags % 2 + (ARGV[5] ~= '' and HAS_OPTIONS or 0), ARGV[5]
end
call('HSET', jobs, id, string.char(flags) .. string.sub(record, 2, 7) .. kept .. traits .. ARGV[4])
return { 'OK' }
