-- reserve.lua: acknowledge what is done, then lease the next ready jobs. The hot path of consumers.
-- KEYS[1] jobs      HASH  id → record            KEYS[2] waiting   ZSET  stamp+id → due (ms)
-- KEYS[3] reserved  ZSET  slot → deadline (ms)   KEYS[4] ledger    HASH  counters, '@'+slot → leases
-- KEYS[5] history   HASH  id → past              KEYS[6] buried    ZSET  id → since (ms)
-- KEYS[7] waiters   ZSET  idle consumer → when it looks by itself (ms)
-- KEYS[8] later     KEYS[9] ready     KEYS[10] ripe     only once the queue has used priorities (RANKED asks for them)
-- ARGV[1] clock offset (ms)   ARGV[2] slot   ARGV[3] call number, 4 bytes   ARGV[4] most jobs to lease
-- ARGV[5] 1: a retry after a lost answer     ARGV[6] waiter, or ''   ARGV[7] longest wait (ms); 0: stops waiting
-- ARGV[8…] to acknowledge, per slot: slot · number of tokens · the tokens
-- Returns {"JOBS", now, lost, entry, record, last error, …} three per job; lost: the tokens that were not ours any more
--       | {"EMPTY", now, lost, wait_us} look again then; -1: nothing is coming
--       | {"PAUSED", now, lost, wait_us}
--       | {"AGAIN", now, lost} a bounded part of the housekeeping is done: call again without acknowledging
--       | {"RANKED"} nothing done: call again with ten keys
--       | error DQSLOT: the slot holds leases that are not acknowledged here
--       | error DQSCHEMA nothing done: the queue belongs to a newer version
-- Cost    O((J+A) log N) for J jobs leased and A acknowledged; 8 commands, 9 with acknowledging
-- Order   lease before member: an error between the two may deliver twice, never lose.
local call, try = redis.call, redis.pcall
local jobs, waiting, reserved, ledger, history = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local buried, waiters, later, ready, ripe = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local time = call('TIME')
local now_us = time[1] * 1000000 + time[2] + ARGV[1] * 1000
local now = math.floor(now_us / 1000)
local function int(number) return string.format('%.0f', number) end
local now_text, sub, byte, waiter = int(now), string.sub, string.byte, ARGV[6]

-- 1. Look. Lateness goes into a histogram with two buckets per doubling.
local fields, buckets
local function read_ledger(picked)
  fields, buckets = { '@' .. ARGV[2], 'schema', 'ranked', 'paused', 'token', 'acked' }, {}
  for n = 2, #picked, 2 do
    local bucket = 'late' .. math.floor(2.8853900817779268 * math.log(math.max(0, now - picked[n]) + 1))
    if not buckets[bucket] then fields[#fields + 1] = bucket end
    buckets[bucket] = (buckets[bucket] or 0) + 1
  end
  return call('HMGET', ledger, unpack(fields))
end
local expired = call('ZRANGEBYSCORE', reserved, '-inf', now_text, 'LIMIT', '0', '1')[1]
local picked = call('ZRANGEBYSCORE', waiting, '-inf', now_text, 'WITHSCORES', 'LIMIT', '0', ARGV[4])
local state = read_ledger(picked)
local ranked, paused = state[3], state[4]
if state[2] and state[2] ~= '1' then
  return redis.error_reply('DQSCHEMA the queue was written by a newer version of delayqueue')
end
if ranked and not ripe then return { 'RANKED' } end
if ARGV[5] == '1' and state[1] and sub(state[1], 1, 4) == ARGV[3] then
  --@include replay
  local reply = replay(state[1])
  if reply[4] then return reply end
end

-- 2. Acknowledge.
local lost, acked, own_is_free = {}, 0, not state[1]
local overwrites = picked[1] and not own_is_free
if ARGV[8] then
  if expired or ranked then
    --@include probe
  end
  --@include settle
  local at = 8
  while ARGV[at] do
    local slot, count = ARGV[at], tonumber(ARGV[at + 1])
    local own = slot == ARGV[2]
    local removed, empty = settle(slot, own and state[1] or call('HGET', ledger, '@' .. slot), at + 2, count, lost, own and overwrites)
    acked, own_is_free = acked + removed, own_is_free or (own and empty)
    at = at + 2 + count
  end
end
if not own_is_free then return redis.error_reply('DQSLOT the lease slot is in use') end
local function without_jobs(word, wait_us)
  if overwrites then
    call('HDEL', ledger, '@' .. ARGV[2])
    call('ZREM', reserved, ARGV[2])
  end
  if acked > 0 then call('HINCRBY', ledger, 'acked', acked) end
  return { word, now_text, lost, wait_us }
end

-- 3. Housekeeping that the exact order needs; then pick anew.
local from_ready = {}
if expired or ranked then
  --@include record
  --@include place
  --@include history
  --@include lease
  --@include reclaim
  --@include promote
  --@include pick
  local more = expired and reclaim()
  if ranked then more = promote() or more end
  if not more then picked, from_ready, more = pick(ARGV[4] + 0, ranked) end
  if more then return without_jobs('AGAIN') end
  state = read_ledger(picked)
end
if paused and paused ~= 'forever' and paused + 0 <= now then paused = false end
if paused then picked = {} end

-- 4. Make the leases.
local count, leased, token, first_deadline = #picked / 2, 0, state[5] or 0, nil
local entries, members, ready_members, reply, ids = {}, {}, {}, { 'JOBS', now_text, lost }, {}
for n = 1, count do ids[n] = sub(picked[2 * n - 1], 8) end
local records = count > 0 and call('HMGET', jobs, unpack(ids))
for n = 1, count do
  local member, record, id = picked[2 * n - 1], records[n], ids[n]
  local attempts, ttr, has_history, past = 1, 60000, false, ''
  local fits = record and sub(record, 1, 7) == sub(member, 1, 7)
  if record and not fits and #record >= 7 and sub(record, 1, 6) == sub(member, 1, 6) then
    has_history = byte(record, 7) + 1 == byte(member, 7)
    fits = has_history
  end
  if fits and byte(record, 7) % 8 ~= 0 then
    --@include record
    ttr = options(record)
  end
  if has_history then
    local packed = call('HGET', history, id)
    if packed and #packed >= 26 then attempts, past = struct.unpack('>I4', packed) + 1, sub(packed, 27) end
  end
  if fits and ttr and #id < 256 then
    leased = leased + 1
    local deadline = now + ttr
    if not first_deadline or deadline < first_deadline then first_deadline = deadline end
    local entry = struct.pack('>I6I4I6I6BB', token + leased, attempts, picked[2 * n], deadline, has_history and 1 or 0, #id) .. id
    entries[leased], members[leased], ready_members[leased] = entry, member, from_ready[n] or false
    local at = 3 * leased
    reply[at + 1], reply[at + 2], reply[at + 3] = entry, record, past
  else
    --@include record
    --@include place
    --@include history
    --@include lease
    --@include held
    --@include discard
    discard(id, member, from_ready[n], record)
  end
end

-- 5. Nothing.
if leased == 0 then
  if count > 0 then return without_jobs('AGAIN') end
  --@include next_due
  --@include wake
  --@include idle
  local soonest
  if not paused then soonest = next_due(waiting, reserved, later) elseif paused ~= 'forever' then soonest = paused + 0 end
  return without_jobs(paused and 'PAUSED' or 'EMPTY', int(idle(waiter, soonest, ARGV[7] + 0)))
end

-- 6. Write. The first write may meet OOM: after a harmless one (lib/unlock.lua) it passes.
local write = { fields[1], ARGV[3] .. table.concat(entries), 'token', int(token + leased), 'schema', '1' }
if acked > 0 then write[7], write[8] = 'acked', int((state[6] or 0) + acked) end
for n = 7, #fields do
  write[#write + 1], write[#write + 2] = fields[n], int((state[n] or 0) + buckets[fields[n]])
end
local stored = try('HSET', ledger, unpack(write))
if type(stored) == 'table' then
  --@include unlock
  call('HSET', ledger, unpack(write))
end
call('ZADD', reserved, int(first_deadline), ARGV[2])
if ranked then
  for n = 1, leased do
    local member = ready_members[n]
    if member then
      call('ZREM', ready, member)
      call('ZREM', ripe, sub(member, 7, 13) .. sub(reply[3 * n + 2], 18, 21) .. sub(member, 14))
    else
      call('ZREM', waiting, members[n])
    end
  end
else
  call('ZREM', waiting, unpack(members))
end

-- 7. Who waits: somebody must look at what is next once this waiter is busy, and at a lease that ends soon.
if waiter ~= '' or first_deadline - now < 2000 then
  --@include next_due
  --@include wake
  if waiter ~= '' then try('ZREM', waiters, waiter) end
  local soonest = next_due(waiting, reserved, later, ripe)
  if soonest then wake(soonest) end
end
return reply
