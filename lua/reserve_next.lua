-- reserve_next.lua: acknowledge the one job of a slot and lease the next one in it: what a loop does that takes one at a time.
-- KEYS[1] jobs    HASH  id → record      KEYS[2] waiting  ZSET  stamp+id → due (ms)
-- KEYS[3] ledger  HASH  head, counters, '@'+slot → leases
-- ARGV[1] slot   ARGV[2] call number, 4 bytes   ARGV[3] token to acknowledge
-- Returns {"JOBS", leases, record} as of reserve.lua   | {"OTHER"} nothing done: ask reserve.lua
--       | {"UNUSUAL"} nothing done: ask reserve_or_wait.lua   | {"RANKED"} the same, and it will be so from now on
-- Cost    O(log N); 7 commands, 8 when this job is later or less late than those before
-- Order   lease before member: an error between the two may deliver twice, never lose.
local KEYS, ARGV, call, unpacked, format = KEYS, ARGV, redis.call, struct.unpack, string.format
local jobs, waiting, ledger, own = KEYS[1], KEYS[2], KEYS[3], '@' .. ARGV[1]

-- 1. Look.
local member = call('ZRANGE', waiting, '0', '0')[1]
if not member or #member < 8 or #member > 262 then return { 'UNUSUAL' } end
local id, ttr = string.sub(member, 8), 60000
local record = call('HGET', jobs, id)
if not record or #record < 10 then return { 'UNUSUAL' } end
local stamp, last, after = unpacked('>I6BI3', record)
local of_stamp, of_last = unpacked('>I6B', member)
if stamp ~= of_stamp then return { 'UNUSUAL' } end
if last ~= of_last or last % 8 ~= 0 then
  local at = after == 16777215 and 17 or 11
  if last ~= of_last or last % 8 ~= 2 or #record < at + 27 then return { 'OTHER' } end
  ttr = unpacked('>I4', record, at + 2)
  if ttr < 2000 then return { 'OTHER' } end -- somebody may have to be told
end
local time = call('TIME')
local us = time[2] + 0
local now = time[1] * 1000 + (us - us % 1000) / 1000
local due = (stamp - stamp % 125) / 125 + 1577836800000 + after -- as in lib/due.lua
if after == 16777215 then due = #record >= 16 and unpacked('>I6', record, 11) or now + 1 end
if due > now then return { 'UNUSUAL' } end
local state = call('HMGET', ledger, own, 'head')
local held, head, deadline = state[1], state[2], now + ttr
if not held or not head or #held < 20 or #head < 24 then return { 'OTHER' } end
local kind, token, acknowledged, expiry, bucket, uncounted = unpacked('>BI6I6I6BI4', head)
if kind ~= 16 then return { kind == 17 and 'RANKED' or 'UNUSUAL' } end
local count, ends, first = unpacked('>I3I6I6', held, 5) -- of one job without a history
if expiry <= now or count ~= 1 or ends > deadline or first ~= ARGV[3] + 0 then return { 'OTHER' } end
if deadline < expiry then expiry = deadline end

-- 2. Acknowledge: a write that Redis allows while it refuses memory (lib/unlock.lua).
call('HDEL', jobs, string.sub(held, 20, -2))

-- 3. Lease.
--@include bucket
local this_bucket, counted = bucket_of(now - due), nil
if this_bucket ~= bucket or uncounted > 4000000000 then -- or it would not fit
  bucket, uncounted, counted = this_bucket, 0, { 'late' .. bucket, format('%d', uncounted) }
end
local leases = ARGV[2] .. struct.pack('>I3I6I6', 1, deadline, token + 1) .. id .. '\0'
call('HSET', ledger, own, leases,
  'head', struct.pack('>BI6I6I6BI4', kind, token + 1, acknowledged + 1, expiry, bucket, uncounted + 1))
call('ZREMRANGEBYRANK', waiting, '0', '0')
if counted then redis.pcall('HINCRBY', ledger, counted[1], counted[2]) end
return { 'JOBS', leases, record }
