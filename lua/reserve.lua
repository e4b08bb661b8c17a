-- reserve.lua: acknowledge what is done, then lease the next ready jobs. The hot path of consumers.
-- KEYS[1] jobs      HASH  id → record            KEYS[2] waiting   ZSET  stamp+id → due (ms)
-- KEYS[3] reserved  ZSET  slot → deadline (ms)   KEYS[4] ledger    HASH  counters, '@'+slot → leases
-- KEYS[5] history   HASH  id → past              KEYS[6] buried    ZSET  id → since (ms)
-- KEYS[7] waiters   ZSET  idle consumer → when it looks by itself (ms)
-- KEYS[8] later     KEYS[9] ready     KEYS[10] ripe     only once the queue has used priorities (RANKED asks for them)
-- ARGV[1] clock offset (ms)   ARGV[2] slot   ARGV[3] call number, 4 bytes   ARGV[4] most jobs to lease
-- ARGV[5] 1: a retry after a lost answer     ARGV[6] waiter, or ''   ARGV[7] longest wait (ms); 0: stops waiting
-- ARGV[8…] to acknowledge, per slot: slot · number of ranges of tokens · first token and how many of each
-- Returns {"JOBS", now, lost, tokens, deadlines, ids, records, histories} lost: the tokens that were not ours any more;
--         tokens: one each, or the first and they count up; deadlines: one each, or one for all; histories: one each, or none
--       | {"EMPTY", now, lost, wait_us} look again then; -1: nothing is coming
--       | {"PAUSED", now, lost, wait_us}
--       | {"AGAIN", now, lost} a bounded part of the housekeeping is done: call again without acknowledging
--       | {"RANKED"} nothing done: call again with ten keys
--       | error DQSLOT: the slot holds leases that are not acknowledged here
--       | error DQSCHEMA nothing done: the queue belongs to a newer version
-- Cost    O((J+A) log N) for J jobs leased and A acknowledged; 8 commands, 8 with acknowledging the slot's own
-- Order   lease before member: an error between the two may deliver twice, never lose.
local call, try = redis.call, redis.pcall
local jobs, waiting, reserved, ledger, history = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local buried, waiters, later, ready, ripe = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local time = call('TIME')
local now_us = time[1] * 1000000 + time[2] + ARGV[1] * 1000
local now = (now_us - now_us % 1000) / 1000
local sub, unpacked, byte = string.sub, struct.unpack, string.byte
local now_text, own, waiter = string.format('%d', now), '@' .. ARGV[2], ARGV[6]
local function int(number) return string.format('%d', number) end -- no upvalues: those are what makes a closure dear

local expired = call('ZRANGEBYSCORE', reserved, '-inf', now_text, 'LIMIT', '0', '1')[1]
local picked = call('ZRANGEBYSCORE', waiting, '-inf', now_text, 'LIMIT', '0', ARGV[4])
local from_ready, lost, acked, own_is_free, more = {}, {}, 0, nil, false
local ids, records, ttrs, pasts, is_odd, is_mixed, fields, buckets, state, ranked, paused
local leftover -- the slot's own record, when its jobs are acknowledged here and its place is used again
local pass = 0
repeat
  pass = pass + 1
  -- 1. Look. The records tell when each was due; lateness goes into a histogram with two buckets per doubling.
  ids, ttrs, pasts, is_odd, is_mixed = {}, {}, nil, false, false
  fields, buckets = { own, 'schema', 'ranked', 'paused', 'token', 'acked' }, {}
  if picked[1] then
    for n = 1, #picked do ids[n] = sub(picked[n], 8) end
    records = call('HMGET', jobs, unpack(ids))
    local low, high, bucket = 1, 0, nil
    for n = 1, #ids do
      local record, member, last, due, ttr = records[n], picked[n], nil, nil, nil
      if record and #record >= 13 then last, due = unpacked('>BI6', record, 7) end
      if last and last % 8 < 4 and #ids[n] < 256 then
        if last % 4 < 2 then ttr = 60000 elseif #record >= 41 then ttr = unpacked('>I4', record, 16) end
        if sub(record, 1, 7) ~= sub(member, 1, 7) then
          if sub(record, 1, 6) ~= sub(member, 1, 6) or last + 1 ~= byte(member, 7) then
            ttr = nil -- a member that is none of this record's
          else
            local packed = call('HGET', history, ids[n])
            pasts = pasts or {}
            pasts[n] = packed or ''
            if packed and #packed >= 26 then due = unpacked('>I6', packed, 21) end
          end
        end
      end
      if ttr then
        ttrs[n] = ttr
        is_mixed = is_mixed or ttr ~= (ttrs[1] or ttr)
        if now - due < low or now - due >= high then
          local index = math.floor(2.8853900817779268 * math.log(math.max(0, now - due) + 1))
          low, high = math.exp(index / 2.8853900817779268) - 1, math.exp((index + 1) / 2.8853900817779268) - 1
          bucket = 'late' .. index
          if not buckets[bucket] then fields[#fields + 1], buckets[bucket] = bucket, 0 end
        end
        buckets[bucket] = buckets[bucket] + 1
      else
        is_odd, is_mixed = true, true
      end
    end
  end
  state = call('HMGET', ledger, unpack(fields))
  ranked, paused = state[3], state[4]
  if pass == 1 then
    if state[2] and state[2] ~= '1' then
      return redis.error_reply('DQSCHEMA the queue was written by a newer version of delayqueue')
    end
    if ranked and not ripe then return { 'RANKED' } end
    if ARGV[5] == '1' and state[1] and sub(state[1], 1, 4) == ARGV[3] then
      --@include replay
      local reply = replay(state[1])
      if reply[6][1] then return reply end
    end

    -- 2. Acknowledge.
    own_is_free = not state[1]
    leftover = picked[1] and state[1]
    if ARGV[8] then
      if expired or ranked then
        --@include probe
      end
      local at, is_empty = 8, nil
      while ARGV[at] do
        local slot, ranges, from = ARGV[at], tonumber(ARGV[at + 1]), at + 2
        local is_own = slot == ARGV[2]
        local record, reuse = nil, is_own and picked[1]
        if is_own then record = state[1] else record = call('HGET', ledger, '@' .. slot) end
        --@include settle
        own_is_free = own_is_free or (is_own and is_empty)
        at = from + 2 * ranges
      end
    end
    if not own_is_free then return redis.error_reply('DQSLOT the lease slot is in use') end

    -- 3. Housekeeping that the exact order needs; then pick anew.
    if expired or ranked then
      --@include record
      --@include place
      --@include history
      --@include lease
      --@include reclaim
      --@include promote
      --@include pick
      more = expired and reclaim()
      if ranked then more = promote() or more end
      if not more then picked, from_ready, more = pick(ARGV[4] + 0, ranked) end
    end
  end
until more or pass == 2 or not (expired or ranked)
if paused and paused ~= 'forever' and paused + 0 <= now then paused = false end
local count = (more or paused) and 0 or #ids

-- 4. What cannot be handed out goes, or is set aside.
if is_odd and count > 0 then
  --@include record
  --@include place
  --@include history
  --@include lease
  --@include held
  --@include discard
  local good = { {}, {}, {}, {}, {} }
  for n = 1, count do
    if ttrs[n] then
      for column, values in ipairs({ ids, records, ttrs, picked, from_ready }) do
        good[column][#good[1] + (column == 1 and 1 or 0)] = values[n] or false
      end
      if pasts then pasts[#good[1]] = pasts[n] end
    else
      discard(ids[n], picked[n], from_ready[n], records[n])
    end
  end
  ids, records, ttrs, picked, from_ready = unpack(good)
  count, more = #ids, #ids == 0
end

-- 5. Nothing.
if count == 0 then
  if leftover then
    call('HDEL', ledger, own)
    call('ZREM', reserved, ARGV[2])
  end
  if acked > 0 then call('HINCRBY', ledger, 'acked', acked) end
  if more then return { 'AGAIN', now_text, lost } end
  --@include next_due
  --@include wake
  --@include idle
  local soonest
  if not paused then soonest = next_due(waiting, reserved, later) elseif paused ~= 'forever' then soonest = paused + 0 end
  return { paused and 'PAUSED' or 'EMPTY', now_text, lost, int(idle(waiter, soonest, ARGV[7] + 0)) }
end

-- 6. Lease. Ids of a batch are joined by newlines, which an id of ours has not.
local token, first_deadline = (state[5] or 0) + 1, now + ttrs[1]
local tokens, deadlines, histories, leases = { int(token) }, { int(first_deadline) }, {}, nil
if pasts then
  for n = 1, count do histories[n] = pasts[n] or '' end
end
local head = ARGV[3] .. (pasts and '\1' or '\0')
if not is_mixed and not (count > 1 and string.find(table.concat(ids), '\n', 1, true)) then
  leases = head .. struct.pack('>I2I6I6', count, first_deadline, token) .. table.concat(ids, '\n')
else
  local parts = {}
  for n = 1, count do
    local deadline = now + ttrs[n]
    if deadline < first_deadline then first_deadline = deadline end
    tokens[n], deadlines[n] = int(token + n - 1), int(deadline)
    parts[n] = struct.pack('>I6I6B', token + n - 1, deadline, #ids[n]) .. ids[n]
  end
  leases = head .. '\0\0' .. table.concat(parts)
end

-- 7. Write. The first write may meet OOM: after a harmless one (lib/unlock.lua) it passes.
local write = { own, leases, 'token', int(token + count - 1) }
if acked > 0 then write[5], write[6] = 'acked', int((state[6] or 0) + acked) end
for n = 7, #fields do
  write[#write + 1], write[#write + 2] = fields[n], int((state[n] or 0) + buckets[fields[n]])
end
if not state[2] then write[#write + 1], write[#write + 2] = 'schema', '1' end
local stored = try('HSET', ledger, unpack(write))
if type(stored) == 'table' then
  --@include unlock
  call('HSET', ledger, unpack(write))
end
-- A slot that is used again may keep a time in `reserved` that is earlier than its leases end: somebody looks in vain, once.
if not leftover or unpacked('>I2', leftover, 6) == 0 or unpacked('>I6', leftover, 8) > first_deadline then
  call('ZADD', reserved, int(first_deadline), ARGV[2])
end
if ranked then
  for n = 1, count do
    local member = from_ready[n]
    if member then
      call('ZREM', ready, member)
      call('ZREM', ripe, sub(member, 7, 13) .. sub(records[n], 24, 27) .. sub(member, 14))
    else
      call('ZREM', waiting, picked[n])
    end
  end
elseif is_odd then
  call('ZREM', waiting, unpack(picked))
else
  call('ZREMRANGEBYRANK', waiting, '0', int(count - 1))
end

-- 8. Who waits: somebody must look at what is next once this waiter is busy, and at a lease that ends soon.
if waiter ~= '' or first_deadline - now < 2000 then
  --@include next_due
  --@include wake
  if waiter ~= '' then try('ZREM', waiters, waiter) end
  local soonest = next_due(waiting, reserved, later, ripe)
  if soonest then wake(soonest) end
end
return { 'JOBS', now_text, lost, tokens, deadlines, ids, records, histories }
