-- reserve_job.lua: lease one given job, if it is ready, delayed or buried.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] consumer   ARGV[3] number of the call   ARGV[4] 1: it may have been executed before   ARGV[5] id
-- Returns {"JOBS", {}, now, id, lease, record, history} as of reserve.lua | {"MISSING"} not there, held, or ended because it is too late or its record cannot be read
--       | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log N)
-- Order   lease before place, as in reserve.lua.
--@include clock
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
--@include check_types
local id = ARGV[5]
if ARGV[4] == '1' then
  --@include give_back
  --@include undo_call
  undo_call(ARGV[2], ARGV[3])
end
if reclaim() then return { 'AGAIN' } end
local record = call('HGET', jobs, id)
local ttr_ms = record and options(record)
local due, is_prioritized = waits(id)
if not ttr_ms then
  if record and due then
    --@include discard
    discard(id, record, due)
  end
  return { 'MISSING' }
end
if due and has_traits(string.byte(record)) then
  --@include expire
  if expire(id, record, due, true) then return { 'MISSING' } end
end
local since = not due and call('ZSCORE', buried, id)
if not due and not since then return { 'MISSING' } end
--@include allow_when_full
local past = call('HGET', history, id)
local token, marks = int(call('HINCRBY', meta, 'token', 1)), (since and 'b' or '') .. (past and 'h' or '')
local lease = token .. ' ' .. int(due or since) .. ' ' .. (marks == '' and '-' or marks) .. ' ' .. ARGV[2]
--@include call_of
call('HSET', leases, '\n' .. ARGV[2], call_of(ARGV[3], { id }), id, lease)
call('ZADD', reserved, int(now + ttr_ms * 1000), id)
if due then unplace(id, due, is_prioritized) else call('ZREM', buried, id) end
--@include wake
wake(now + ttr_ms * 1000)
return { 'JOBS', {}, int(now), id, lease, record, past or '' }
