-- reserve_job.lua: lease one given job, if it is ready, delayed or buried.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] consumer   ARGV[3] number of the call   ARGV[4] 1: it may have been executed before   ARGV[5] id
-- Returns {"JOBS", "", now, id, lease, record, history} as of reserve.lua | {"MISSING"} not there, held, or ended because it is too late or its record cannot be read
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
--@include give_back
--@include undo_call
--@include expire
--@include discard
--@include check_types
--@include check_group_types
local id = ARGV[5]
if ARGV[4] == '1' and undo_call(ARGV[2], ARGV[3]) then wake(now) end
if reclaim() then return { 'AGAIN' } end
local record = call('HGET', jobs, id)
local ttr_ms = record and options(record)
local due, where = waits(id)
if not ttr_ms then
  if record and due then discard(id, record, due, where) end
  return { 'MISSING' }
end
if due and has_traits(string.byte(record)) and expire(id, record, due, where) then
  wake(now) -- it may have held up its group
  return { 'MISSING' }
end
local since = not due and call('ZSCORE', buried, id)
if not due and not since then return { 'MISSING' } end
--@include allow_when_full
local past, group, is_capped = call('HGET', history, id), group_of(record), call('HEXISTS', limits, '\n') == 1
local token = int(call('HINCRBY', meta, 'token', 1))
local marks = (since and 'b' or '') .. (past and 'h' or '') .. (group and 'g' or '') .. (is_capped and 'l' or '')
local lease = (marks == '' and '-' or marks) .. ' ' .. token .. ' ' .. int(due or since) .. ' ' .. ARGV[2] .. (group and ' ' .. group or '')
--@include call_of
call('HSET', leases, '\n' .. ARGV[2], call_of(ARGV[3], { id }), id, lease)
call('ZADD', reserved, int(now + ttr_ms * 1000), id)
if due then unplace(id, due, where, record) else call('ZREM', buried, id) end
if group then call('ZADD', groups, 0, group .. '\nh' .. id) end
if group or is_capped then charge(group, is_capped, 1) end
wake(now + ttr_ms * 1000)
return { 'JOBS', '', int(now), id, lease, record, past or '' }
