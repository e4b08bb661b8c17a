-- reserve_job.lua: lease one given job, if it is ready, delayed or buried.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] slot   ARGV[3] call number, 4 bytes   ARGV[4] id   ARGV[5] 1: a retry after a lost answer
-- Returns {"JOBS", leases, record, {history}, {}, now} as of reserve_or_wait.lua | {"MISSING"} not there, held, or of an unknown format
--       | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log N)
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include lease
--@include reclaim
local id = ARGV[4]
if ARGV[5] == '1' then
  local mine = call('HGET', ledger, '@' .. ARGV[2])
  if mine and string.sub(mine, 1, 4) == ARGV[3] then
    --@include replay
    local reply = replay(mine)
    if reply then return reply end
  end
end
if reclaim() then return { 'AGAIN' } end
local record = call('HGET', jobs, id)
local ttr = record and options(record)
if not ttr or #id > 255 then return { 'MISSING' } end
local h, packed = read_history(id)
local due = waits(id, record, packed and true)
local is_buried = not due and call('ZSCORE', buried, id)
if not due and not is_buried then return { 'MISSING' } end
local kind, token, acknowledged, expiry = read_head()
token = token + 1
local leases = ARGV[3] .. struct.pack('>BI2I6I6', packed and 1 or 0, 1, now + ttr, token) .. id .. '\0'
--@include probe
--@include unlock
call('HSET', ledger, '@' .. ARGV[2], leases)
write_head(kind, token, acknowledged, math.min(expiry, now + ttr))
call('ZADD', reserved, int(now + ttr), ARGV[2])
if is_buried then call('ZREM', buried, id) else waits(id, record, packed and true, true) end
if ttr < 2000 then
  --@include wake
  wake(now + ttr)
end
return { 'JOBS', leases, record, { packed or '' }, {}, now }
