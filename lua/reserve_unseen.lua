-- reserve_unseen.lua: lease the next ready jobs without looking at their records, and acknowledge those that the slot held. For who
-- reads the records afterwards, and compares their stamps with those in the slot: a member may have no record, or that of a newer job.
-- KEYS[1] jobs      HASH  id → record            KEYS[2] waiting   ZSET  stamp+id → due (ms)
-- KEYS[3] reserved  ZSET  slot → deadline (ms)   KEYS[4] ledger    HASH  head, counters, '@'+slot → leases
-- ARGV[1] slot   ARGV[2] call number, 4 bytes   ARGV[3] most jobs to lease
-- ARGV[4] first token   ARGV[5] how many tokens: all that the slot holds; neither when it is a new one
-- Returns {"LEASES", leases, now} leases as in the ledger, now in ms   | {"OTHER"} nothing done: ask reserve.lua
-- Cost    O((J+A) log N) for J jobs leased and A acknowledged; 8 commands, 9 in a new slot; 1 more when they are later or less late
--         than those before
-- Order   lease before member: an error between the two may deliver twice, never lose.
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local waiting, reserved, ledger, own = KEYS[2], KEYS[3], KEYS[4], '@' .. ARGV[1]
local sub, byte, unpacked, format, concat = string.sub, string.byte, struct.unpack, string.format, table.concat

-- 1. Look.
local time = call('TIME')
local us = time[2] + 0
local now = time[1] * 1000 + (us - us % 1000) / 1000
local picked = call('ZRANGEBYSCORE', waiting, '-inf', format('%d', now), 'LIMIT', '0', ARGV[3])
local count = #picked
if count < 2 then return { 'OTHER' } end
local ids, stamps = {}, {}
for n = 1, count do
  local member = picked[n]
  if #member < 8 or #member > 262 or byte(member, 7) % 8 ~= 0 then return { 'OTHER' } end -- the flags of the stamp
  ids[n], stamps[n] = sub(member, 8), sub(member, 1, 7)
end
if string.find(concat(ids), '\0', 1, true) then return { 'OTHER' } end -- no id of ours
local state = call('HMGET', ledger, own, 'head')
local held, head, deadline = state[1], state[2], now + 60000
if not head or #head < 24 then return { 'OTHER' } end
local kind, token, acknowledged, expiry, bucket, uncounted = unpacked('>BI6I6I6BI4', head)
if kind ~= 16 or expiry <= now then return { 'OTHER' } end
if deadline < expiry then expiry = deadline end
--@include bucket
local this_bucket, counted = bucket_of(now - call('ZSCORE', waiting, picked[1])), nil
if bucket_of(now - call('ZSCORE', waiting, picked[count])) ~= this_bucket then return { 'OTHER' } end
if this_bucket ~= bucket or uncounted >= 4000000000 then -- or it would not fit
  bucket, uncounted, counted = this_bucket, 0, { 'late' .. bucket, format('%d', uncounted) }
end

-- 2. Acknowledge, or take a new slot. Either write is one that Redis allows while it refuses memory (lib/unlock.lua).
local acked, held_until = (ARGV[5] or 0) + 0, nil
if held then
  if #held < 20 then return { 'OTHER' } end
  local flags, many, ends, first = unpacked('>BI2I6I6', held, 5)
  if flags == 1 or many == 0 or many ~= acked or first ~= ARGV[4] + 0 then return { 'OTHER' } end
  local done = many == 1 and flags == 0 and { true, sub(held, 20, -2) } or { pcall(unpacked, string.rep('s', many), held, 20) }
  if not done[1] then return { 'OTHER' } end
  held_until = ends
  if held_until > deadline then call('ZREM', reserved, '') end
  call('HDEL', KEYS[1], unpack(done, 2, many + 1))
elseif acked > 0 then
  return { 'OTHER' }
else
  call('ZREM', reserved, '')
end

-- 3. Lease.
-- One concatenation: behind the last id, too, is a zero byte.
ids[1], ids[count + 1] = ARGV[2] .. struct.pack('>BI2I6I6', 2, count, deadline, token + 1) .. ids[1], concat(stamps)
local leases = concat(ids, '\0')
call('HSET', ledger, own, leases,
  'head', struct.pack('>BI6I6I6BI4', kind, token + count, acknowledged + acked, expiry, bucket, uncounted + count))
-- A slot that is used again may keep a time in `reserved` that is earlier than its leases end: somebody looks in vain, once.
if not held_until or held_until > deadline then call('ZADD', reserved, format('%d', deadline), ARGV[1]) end
call('ZREMRANGEBYRANK', waiting, '0', format('%d', count - 1))
-- Who may not count, or meets something foreign there, has leased all the same.
if counted then redis.pcall('HINCRBY', ledger, counted[1], counted[2]) end
return { 'LEASES', leases, now }
