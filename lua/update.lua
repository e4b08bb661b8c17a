-- update.lua: replace the payload of a job that nobody holds; its time and options stay.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] id   ARGV[3] payload
-- Returns {"OK"} | {"MISSING"} not there, or held | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log N)
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include lease
--@include reclaim
if reclaim() then return { 'AGAIN' } end
local id = ARGV[2]
local record = call('HGET', jobs, id)
if not record or not options(record) then return { 'MISSING' } end
local has_history = call('HEXISTS', history, id) == 1
if not waits(id, record, has_history) and not call('ZSCORE', buried, id) then return { 'MISSING' } end
local payload_at = body_at(record)
if flag(string.byte(record, 7), OPTIONS) then payload_at = payload_at + 2 + struct.unpack('>I2', record, payload_at) end
call('HSET', jobs, id, string.sub(record, 1, payload_at - 1) .. ARGV[3])
return { 'OK' }
