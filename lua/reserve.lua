-- reserve.lua: acknowledge what is done, then lease the next ready jobs. The hot path of consumers.
-- KEYS[1] jobs      HASH  id → record            KEYS[2] waiting   ZSET  stamp+id → due (ms)
-- KEYS[3] reserved  ZSET  slot → deadline (ms)   KEYS[4] ledger    HASH  head, counters, '@'+slot → leases
-- KEYS[5] history   HASH  id → past              KEYS[6] buried    ZSET  id → since (ms)
-- KEYS[7] waiters   ZSET  idle consumer → when it looks by itself (ms)
-- KEYS[8] later     KEYS[9] ready     KEYS[10] ripe     only once the queue has used priorities (RANKED asks for them)
-- ARGV[1] slot   ARGV[2] call number, 4 bytes   ARGV[3] most jobs to lease
-- ARGV[4] '', or retry:offset:wait:waiter  1 after a lost answer : clock offset (ms) : longest wait (ms; 0: stops waiting) : or ''
-- ARGV[5…] to acknowledge, in threes: slot, or '' for the own · first token · how many tokens
-- Returns {"JOB", now, token, deadline, id, record} one job without a history, and nothing was lost
--       | {"JOBS", now, lost, tokens, deadlines, ids, records, histories} lost: the tokens that were not ours any more;
--         tokens: one each, or the first and they count up; deadlines: one each, or one for all; histories: one each, or none
--       | {"EMPTY", now, lost, wait_us} look again then; -1: nothing is coming
--       | {"PAUSED", now, lost, wait_us}
--       | {"AGAIN", now, lost} a bounded part of the housekeeping is done: call again without acknowledging
--       | {"RANKED"} nothing done: call again with ten keys
--       | error DQSLOT: the slot holds leases that are not acknowledged here
--       | error DQSCHEMA nothing done: the queue belongs to a newer version
-- Cost    O((J+A) log N) for J jobs leased and A acknowledged; 7 commands, also when the slot is used
--         again; 2 more whenever a lease may have run out
-- Order   lease before member: an error between the two may deliver twice, never lose.
local call, try = redis.call, redis.pcall
local jobs, waiting, reserved, ledger, history = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local buried, waiters, later, ready, ripe = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local sub, unpacked, slot_name, own = string.sub, struct.unpack, ARGV[1], '@' .. ARGV[1]
local time = call('TIME')
local now_us, is_retry, waiter, longest_wait = time[1] * 1000000 + time[2], false, '', 0
if ARGV[4] ~= '' then
  local retry, offset, wait, name = string.match(ARGV[4], '^(%d):(%-?%d+):(%d+):(.*)$')
  now_us, is_retry, longest_wait, waiter = now_us + offset * 1000, retry == '1', wait + 0, name
end
local now = (now_us - now_us % 1000) / 1000
local function int(number) return string.format('%d', number) end -- without upvalues: those are what makes a closure dear

local picked = call('ZRANGEBYSCORE', waiting, '-inf', string.format('%d', now), 'LIMIT', '0', ARGV[3])
local from_ready, lost, acked, own_is_free, more, is_paused, is_due = nil, nil, 0, false, false, false, false
local ids, records, ttr, ttrs, pasts, is_odd, bucket, in_bucket, counts, state, kind, token, acknowledged, expiry
local leftover -- the slot's own record, when its jobs are acknowledged here and its place is used again
local pass = 0
repeat
  pass = pass + 1
  -- 1. Look. The records tell when each was due; lateness goes into a histogram with two buckets per doubling.
  ids, records, ttr, ttrs, pasts, is_odd, bucket, in_bucket, counts = {}, nil, nil, nil, nil, false, nil, 0, nil
  if picked[1] then
    for n = 1, #picked do ids[n] = sub(picked[n], 8) end
    records = call('HMGET', jobs, unpack(ids))
    for n = 1, #ids do
      local record, member, last, due, own_ttr = records[n], picked[n], nil, nil, nil
      if record and #record >= 13 then last, due = unpacked('>BI6', record, 7) end
      if last and last % 8 < 4 and #ids[n] < 256 then
        if last % 4 < 2 then own_ttr = 60000 elseif #record >= 41 then own_ttr = unpacked('>I4', record, 16) end
        if sub(record, 1, 7) ~= sub(member, 1, 7) then
          if sub(record, 1, 6) ~= sub(member, 1, 6) or last + 1 ~= string.byte(member, 7) then
            own_ttr = nil -- a member that is none of this record's
          else
            local packed = call('HGET', history, ids[n])
            pasts = pasts or {}
            pasts[n] = packed or ''
            if packed and #packed >= 26 then due = unpacked('>I6', packed, 21) end
          end
        end
      end
      if not ttrs and (not own_ttr or own_ttr ~= ttr) then -- not all the same, or not all fit
        if n == 1 and own_ttr then
          ttr = own_ttr
        else
          ttrs = {}
          for before = 1, n - 1 do ttrs[before] = ttr end
        end
      end
      if ttrs then ttrs[n] = own_ttr or false end
      if own_ttr then
        local mantissa, exponent = math.frexp(due < now and now - due + 1 or 1)
        local index = 2 * exponent - (mantissa < 0.70710678118654752 and 2 or 1)
        if index == bucket then
          in_bucket = in_bucket + 1
        else
          if bucket then
            counts = counts or {}
            counts[bucket] = (counts[bucket] or 0) + in_bucket
          end
          bucket, in_bucket = index, 1
        end
      else
        is_odd = true
      end
    end
  end
  if counts then
    counts[bucket] = (counts[bucket] or 0) + in_bucket
    local fields = { own, 'head' }
    for index in pairs(counts) do fields[#fields + 1] = 'late' .. index end
    state = call('HMGET', ledger, unpack(fields))
  else
    state = call('HMGET', ledger, own, 'head', 'late' .. (bucket or ''))
  end
  leftover = pass == 2 and leftover and state[1] -- the housekeeping may have removed it
  kind, token, acknowledged, expiry = 16, 0, 0, 0
  if state[2] and #state[2] >= 19 then kind, token, acknowledged, expiry = unpacked('>BI6I6I6', state[2]) end
  local is_ranked = kind % 2 == 1
  is_paused = kind % 4 >= 2
  if pass == 1 then
    if kind >= 32 then return redis.error_reply('DQSCHEMA the queue was written by a newer version of delayqueue') end
    if is_ranked and not ripe then return { 'RANKED' } end
    if is_retry and state[1] and sub(state[1], 1, 4) == ARGV[2] then
      --@include replay
      local reply = replay(state[1])
      if reply[6][1] then return reply end
    end
    is_due = is_ranked or (expiry <= now and call('ZRANGEBYSCORE', reserved, '-inf', int(now), 'LIMIT', '0', '1')[1])

    -- 2. Acknowledge.
    own_is_free = not state[1]
    leftover = picked[1] and state[1]
    if ARGV[5] then
      if is_due then
        --@include probe
      end
      for from = 6, #ARGV, 3 do
        local slot, record, reuse, is_empty = ARGV[from - 1], nil, false, false
        local is_own = slot == '' or slot == slot_name
        if is_own then
          slot, record, reuse = slot_name, state[1], leftover
        else
          record = call('HGET', ledger, '@' .. slot)
        end
        --@include settle
        if is_own then own_is_free, state[1] = own_is_free or is_empty, kept end
      end
    end
    if not own_is_free then return redis.error_reply('DQSLOT the lease slot is in use') end

    -- 3. Housekeeping that the exact order needs; then pick anew.
    if is_due then
      --@include record
      --@include place
      --@include history
      --@include lease
      --@include reclaim
      --@include promote
      --@include pick
      more = reclaim()
      if is_ranked then more = promote() or more end
      if not more then picked, from_ready, more = pick(ARGV[3] + 0, is_ranked) end
    end
  end
until more or pass == 2 or not is_due
if is_paused then
  local paused = call('HGET', ledger, 'paused')
  is_paused = paused and (paused == 'forever' or paused + 0 > now) and paused
end
local count = (more or is_paused) and 0 or #ids

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
      local at = #good[1] + 1
      for column, values in ipairs({ ids, records, ttrs, picked, from_ready or {} }) do
        good[column][at] = values[n] or false
      end
      if pasts then pasts[at] = pasts[n] end
    else
      discard(ids[n], picked[n], from_ready and from_ready[n], records[n])
    end
  end
  ids, records, ttrs, picked, from_ready = unpack(good)
  count, more = #ids, #ids == 0
end

-- 5. Nothing.
if count == 0 then
  if leftover then
    call('HDEL', ledger, own)
    call('ZREM', reserved, slot_name)
  end
  if acked > 0 then call('HINCRBY', ledger, 'acked', acked) end
  if more then return { 'AGAIN', now, lost or {} } end
  --@include next_due
  --@include wake
  --@include idle
  local soonest
  if not is_paused then
    soonest = next_due(waiting, reserved, later)
  elseif is_paused ~= 'forever' then
    soonest = is_paused + 0
  end
  return { is_paused and 'PAUSED' or 'EMPTY', now, lost or {}, idle(waiter, soonest, longest_wait) }
end

-- 6. Lease. Ids of a batch are joined by newlines, which an id of ours has not.
local first_token, first_deadline, tokens, deadlines, leases = token + 1, now + (ttr or 0), nil, nil, nil
if not ttrs and (count == 1 or not string.find(table.concat(ids), '\n', 1, true)) then
  leases = ARGV[2] .. struct.pack('>BI2I6I6', pasts and 1 or 0, count, first_deadline, first_token)
    .. (count == 1 and ids[1] or table.concat(ids, '\n'))
else
  local parts
  tokens, deadlines, parts = {}, {}, {}
  for n = 1, count do
    tokens[n], deadlines[n] = token + n, now + (ttrs and ttrs[n] or ttr)
    if n == 1 or deadlines[n] < first_deadline then first_deadline = deadlines[n] end
    parts[n] = struct.pack('>I6I6B', tokens[n], deadlines[n], #ids[n]) .. ids[n]
  end
  leases = ARGV[2] .. (pasts and '\1' or '\0') .. '\0\0' .. table.concat(parts)
end

-- 7. Write. The first write may meet OOM: after a harmless one (lib/unlock.lua) it passes.
if expiry <= now then -- what we believed has come true: look when the next lease ends
  local soonest = call('ZRANGE', reserved, 0, 0, 'WITHSCORES')[2]
  expiry = soonest and soonest + 0 or first_deadline
end
if first_deadline < expiry then expiry = first_deadline end
local head = struct.pack('>BI6I6I6', kind, token + count, acknowledged + acked, expiry)
local write = { own, leases, 'head', head, 'late' .. bucket, nil }
if counts then
  local n = 5
  for index, many in pairs(counts) do -- in the order in which they were read
    write[n], write[n + 1] = 'late' .. index, int((state[(n + 1) / 2] or 0) + many)
    n = n + 2
  end
else
  write[6] = int((state[3] or 0) + in_bucket)
end
local stored = try('HSET', ledger, unpack(write))
if type(stored) == 'table' then
  --@include unlock
  call('HSET', ledger, unpack(write))
end
-- A slot that is used again may keep a time in `reserved` that is earlier than its leases end: somebody looks in vain, once.
if not leftover or unpacked('>I2', leftover, 6) == 0 or unpacked('>I6', leftover, 8) > first_deadline then
  call('ZADD', reserved, int(first_deadline), slot_name)
end
if kind % 2 == 1 then
  for n = 1, count do
    local member = from_ready and from_ready[n]
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
  call('ZREMRANGEBYRANK', waiting, '0', count == 1 and '0' or int(count - 1))
end

-- 8. Who waits: somebody must look at what is next once this waiter is busy, and at a lease that ends soon.
if waiter ~= '' or first_deadline - now < 2000 then
  --@include next_due
  --@include wake
  if waiter ~= '' then try('ZREM', waiters, waiter) end
  local soonest = next_due(waiting, reserved, later, ripe)
  if soonest then wake(soonest) end
end
if count == 1 and not pasts and not lost then return { 'JOB', now, first_token, first_deadline, ids[1], records[1] } end
local histories = {}
if pasts then
  for n = 1, count do histories[n] = pasts[n] or '' end
end
return { 'JOBS', now, lost or {}, tokens or { first_token }, deadlines or { first_deadline }, ids, records, histories }
