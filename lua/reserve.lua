-- reserve.lua: lease the next ready jobs, and acknowledge those that the slot held. The hot path of consumers, and only that:
-- whatever is out of the ordinary is left to reserve_or_wait.lua.
-- KEYS[1] jobs      HASH  id → record            KEYS[2] waiting   ZSET  stamp+id → due (ms)
-- KEYS[3] reserved  ZSET  slot → deadline (ms)   KEYS[4] ledger    HASH  head, counters, '@'+slot → leases
-- KEYS[5] history   HASH  id → past              KEYS[6] waiters   ZSET  idle consumer → when it looks by itself (ms)
-- ARGV[1] slot   ARGV[2] call number, 4 bytes   ARGV[3] most jobs to lease
-- ARGV[4] first token   ARGV[5] how many tokens: all that the slot holds; neither when it is a new one
-- Returns {"JOBS", leases, record…} or {"JOBS", leases, record…, histories}: leases as in the ledger; histories '' where there is none
--       | {"UNUSUAL"} nothing done: ask reserve_or_wait.lua   | {"RANKED"} the same, and it will be so from now on
-- Cost    O((J+A) log N) for J jobs leased and A acknowledged; 7 commands, 8 in a new slot;
--         1 more whenever a lease may have run out, one per job with a history, one per bucket that jobs are late in, and two where TTRs are mixed
-- Order   lease before member: an error between the two may deliver twice, never lose.
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local jobs, waiting, reserved, ledger, history, own = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], '@' .. ARGV[1]
local sub, unpacked, format = string.sub, struct.unpack, string.format

-- 1. Look.
local time = call('TIME')
local us = time[2] + 0
local now = time[1] * 1000 + (us - us % 1000) / 1000
local picked -- one is had for less by its rank: that it is due shows when its record has been read
if ARGV[3] == '1' then
  picked = call('ZRANGE', waiting, '0', '0')
else
  picked = call('ZRANGEBYSCORE', waiting, '-inf', format('%d', now), 'LIMIT', '0', ARGV[3])
end
local count = #picked
if count == 0 then return { 'UNUSUAL' } end
local ids = {}
for n = 1, count do ids[n] = sub(picked[n], 8) end
local records = call('HMGET', jobs, unpack(ids))
local ttr, ttrs, pasts = 60000, nil, nil -- `ttr` is the shortest; `ttrs` those of the jobs that have their own
for n = 1, count do
  local record, member = records[n], picked[n]
  if not record or #record < 10 or #member < 8 or #member > 262 then return { 'UNUSUAL' } end
  local stamp, last = unpacked('>I6B', record)
  local of_stamp, of_last = unpacked('>I6B', member)
  if stamp ~= of_stamp or last ~= of_last or last % 8 ~= 0 then
    local has_options = last % 8 == 2
    if stamp ~= of_stamp or last % 8 ~= 0 and not has_options then return { 'UNUSUAL' } end
    if has_options then
      if #record < 38 then return { 'UNUSUAL' } end
      local after, own_ttr = unpacked('>I3xxI4', record, 8)
      if after == 16777215 then -- as in lib/due.lua
        if #record < 44 then return { 'UNUSUAL' } end
        own_ttr = unpacked('>I4', record, 19)
      end
      ttrs = ttrs or {}
      ttrs[n] = own_ttr
    end
    if last ~= of_last then
      if last + 1 ~= of_last then return { 'UNUSUAL' } end
      local past = call('HGET', history, ids[n])
      if not past or #past < 26 then return { 'UNUSUAL' } end
      pasts = pasts or {}
      pasts[n] = past
    end
  end
end
if ttrs then
  local is_mixed = false
  ttr = ttrs[1] or 60000
  for n = 1, count do
    ttrs[n] = ttrs[n] or 60000
    is_mixed = is_mixed or ttrs[n] ~= ttr
    if ttrs[n] < ttr then ttr = ttrs[n] end
  end
  if not is_mixed then ttrs = nil end
end
local first_due -- as in lib/due.lua
if pasts and pasts[1] then
  first_due = unpacked('>I6', pasts[1], 21)
else
  local units, after = unpacked('>I6xI3', records[1])
  first_due = (units - units % 125) / 125 + 1577836800000 + after
  if after == 16777215 then first_due = #records[1] >= 16 and unpacked('>I6', records[1], 11) or now + 1 end
end
if first_due > now then return { 'UNUSUAL' } end
local last_due = first_due
if pasts and pasts[count] then
  last_due = unpacked('>I6', pasts[count], 21)
elseif count > 1 then
  local units, after = unpacked('>I6xI3', records[count])
  last_due = (units - units % 125) / 125 + 1577836800000 + after
  if after == 16777215 then last_due = #records[count] >= 16 and unpacked('>I6', records[count], 11) or now + 1 end
end
--@include bucket
local bucket, counts = bucket_of(now - first_due), nil
local state = call('HMGET', ledger, own, 'head')
local kind, token, acknowledged, expiry, last_bucket, uncounted = 16, 0, 0, 0, bucket, 0
if state[2] then
  if #state[2] < 19 then return { 'UNUSUAL' } end
  kind, token, acknowledged, expiry = unpacked('>BI6I6I6', state[2])
  if #state[2] >= 24 then last_bucket, uncounted = unpacked('>BI4', state[2], 20) end
end
if count == 1 or bucket_of(now - last_due) == bucket then -- as usual: the first is the latest, the last one the least late
  if bucket == last_bucket and uncounted < 4000000000 then -- or it would not fit
    uncounted = uncounted + count
  else
    counts, uncounted = { [last_bucket] = uncounted }, count
  end
else
  --@include lateness
  counts = lateness(records, pasts)
  local in_bucket = counts[bucket]
  counts[bucket] = nil
  counts[last_bucket] = (counts[last_bucket] or 0) + uncounted
  uncounted = in_bucket
end
if kind ~= 16 then return { kind == 17 and 'RANKED' or 'UNUSUAL' } end
local deadline = now + ttr
if expiry <= now then -- what we believed has come true: look when the next lease ends
  local soonest = call('ZRANGE', reserved, '0', '0', 'WITHSCORES')[2]
  expiry = soonest and soonest + 0 or deadline
  if expiry <= now then return { 'UNUSUAL' } end
end
if deadline < expiry then expiry = deadline end

-- 2. Acknowledge, or take a new slot. Either write is one that Redis allows while it refuses memory (lib/unlock.lua).
local held, held_until, first, acked = state[1], 0, (ARGV[4] or 0) + 0, (ARGV[5] or 0) + 0 -- 0: not known
if held then
  if #held < 20 then return { 'UNUSUAL' } end
  local flags, many, ends, first_token = unpacked('>BI2I6I6', held, 5) -- 1: with a history; 2: with stamps
  local done
  if many == 0 then -- each has a deadline of its own
    if flags > 1 then return { 'UNUSUAL' } end
    local at = 8
    done = { true }
    while at + 12 <= #held do
      local token_of, _, length = unpacked('>I6I6B', held, at)
      if token_of ~= first + many then return { 'UNUSUAL' } end
      many = many + 1
      done[many + 1], at = sub(held, at + 13, at + 12 + length), at + 13 + length
    end
  elseif first_token == first and many == acked then
    done = many == 1 and flags < 2 and { true, sub(held, 20, -2) } or { pcall(unpacked, string.rep('s', many), held, 20) }
    held_until = ends
  end
  if many ~= acked or not done or not done[1] then return { 'UNUSUAL' } end
  if flags == 1 then call('HLEN', history) end -- as in lib/probe.lua
  if held_until == 0 or held_until > deadline then call('ZREM', reserved, '') end
  call('HDEL', jobs, unpack(done, 2, many + 1))
  if flags == 1 then call('HDEL', history, unpack(done, 2, many + 1)) end
elseif acked > 0 then
  return { 'UNUSUAL' }
else
  call('ZREM', reserved, '')
end

-- 3. Lease.
local leases
if not ttrs then
  leases = ARGV[2] .. struct.pack('>BI2I6I6', pasts and 1 or 0, count, deadline, token + 1)
    .. (count == 1 and ids[1] or table.concat(ids, '\0')) .. '\0'
else
  local parts = { ARGV[2] .. struct.pack('>BI2', pasts and 1 or 0, 0) }
  for n = 1, count do parts[n + 1] = struct.pack('>I6I6B', token + n, now + ttrs[n], #ids[n]) .. ids[n] end
  leases = table.concat(parts)
end
call('HSET', ledger, own, leases,
  'head', struct.pack('>BI6I6I6BI4', kind, token + count, acknowledged + acked, expiry, bucket, uncounted))
-- A slot that is used again may keep a time in `reserved` that is earlier than its leases end: somebody looks in vain, once.
if not held or held_until == 0 or held_until > deadline then call('ZADD', reserved, format('%d', deadline), ARGV[1]) end
call('ZREMRANGEBYRANK', waiting, '0', count == 1 and '0' or format('%d', count - 1))
-- Who may not count, or meets something foreign there, has leased all the same.
for counted, many in pairs(counts or {}) do redis.pcall('HINCRBY', ledger, 'late' .. counted, format('%d', many)) end
if ttr < 2000 then -- an idle consumer may not look again before this lease ends
  local try, waiters, now_us = redis.pcall, KEYS[6], time[1] * 1000000 + us
  local function int(number) return format('%d', number) end
  --@include next_due
  --@include wake
  wake(next_due(waiting, reserved))
end
if not pasts then return { 'JOBS', leases, unpack(records) } end
for n = 1, count do pasts[n] = pasts[n] or '' end
local answer = { 'JOBS', leases, unpack(records) }
answer[count + 3] = pasts
return answer
