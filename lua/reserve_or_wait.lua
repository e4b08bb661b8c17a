-- reserve_or_wait.lua: reserve with all that is rarely needed: housekeeping, priorities, repeated calls, waiting.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] slot   ARGV[3] call number, 4 bytes   ARGV[4] most jobs to lease
-- ARGV[5] 1: a retry after a lost answer   ARGV[6] waiter, or ''   ARGV[7] longest wait (ms; 0: it stops waiting)
-- ARGV[8…] to acknowledge, in threes: slot · first token · how many tokens
-- Returns {"JOBS", leases, record…, histories, lost, now} the first as of reserve.lua; a record may be missing; lost: the tokens
--         to acknowledge that are not ours any more
--       | {"EMPTY", lost, wait_us, next} look again after this long (-1: nothing is coming); next: when there is something to do (ms),
--         or ''; somebody looks then
--       | {"PAUSED", lost, wait_us, next}
--       | {"AGAIN", lost} a bounded part of the housekeeping is done: call again without acknowledging
--       | error DQSLOT: the slot holds leases that are not acknowledged here
--       | error DQSCHEMA nothing done: the queue belongs to a newer version
-- Cost    O((J+A) log N) for J jobs leased and A acknowledged
-- Order   lease before member: an error between the two may deliver twice, never lose.
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include lease
local slot_name, own, most, waiter = ARGV[2], '@' .. ARGV[2], ARGV[4] + 0, ARGV[6]
local kind, token, acknowledged, expiry = read_head()
if kind >= 32 then return redis.error_reply('DQSCHEMA the queue was written by a newer version of delayqueue') end
local is_ranked, is_paused = kind % 2 == 1, kind % 4 >= 2
local mine = call('HGET', ledger, own)
if ARGV[5] == '1' and mine and string.sub(mine, 1, 4) == ARGV[3] then
  --@include replay
  local reply = replay(mine)
  if reply then return reply end
end

-- 1. Acknowledge.
local is_due = is_ranked or expiry <= now and call('ZRANGEBYSCORE', reserved, '-inf', int(now), 'LIMIT', 0, 1)[1]
local lost, acked = nil, 0
if ARGV[8] then
  --@include probe
end
for from = 9, #ARGV, 3 do
  local slot = ARGV[from - 1]
  local record = call('HGET', ledger, '@' .. slot)
  --@include settle
  if slot == slot_name then mine = kept end
end

-- 2. Housekeeping that the exact order needs; then pick.
local more, picked, from_ready = false, {}, nil
if is_due then
  --@include reclaim
  --@include promote
  more = reclaim()
  if is_ranked then more = promote() or more end
  kind, token, acknowledged, expiry = read_head()
  mine = mine and call('HGET', ledger, own)
end
if mine then
  if acked > 0 then call('HINCRBY', ledger, 'acked', acked) end
  return redis.error_reply('DQSLOT the lease slot is in use')
end
if is_paused then
  local paused = call('HGET', ledger, 'paused')
  is_paused = paused and (paused == 'forever' or paused + 0 > now) and paused
end
--@include pick
if not more and not is_paused then picked, from_ready, more = pick(most, is_ranked) end

-- 3. Look at each. What cannot be handed out goes, or is set aside.
if more then picked = {} end
local names = {}
for n, member in ipairs(picked) do names[n] = string.sub(member, 8) end
local found = names[1] and call('HMGET', jobs, unpack(names))
local ids, records, members, of_ready, entries, pasts, has_history, first_deadline = {}, {}, {}, {}, {}, {}, 0, nil
for n, member in ipairs(picked) do
  local id, record = names[n], found[n]
  local ttr = record and options(record)
  local is_aged = ttr and member == stamp(record, true) .. id
  if id == '' or #id > 255 or not ttr or not (is_aged or member == stamp(record, false) .. id) then
    --@include held
    --@include discard
    --@include unlock
    discard(id, member, from_ready[n], record)
  else
    local at = #ids + 1
    ids[at], records[at], members[at], of_ready[at] = id, record, member, from_ready[n] or false
    pasts[at] = is_aged and call('HGET', history, id) or ''
    if is_aged then has_history = 1 end
    entries[at] = { token = token + at, deadline = now + ttr, id = id }
    if not first_deadline or now + ttr < first_deadline then first_deadline = now + ttr end
  end
end

-- 4. Nothing.
--@include next_due
if not ids[1] then
  if acked > 0 then call('HINCRBY', ledger, 'acked', acked) end
  if more or picked[1] then return { 'AGAIN', lost or {} } end
  --@include wake
  --@include idle
  local soonest
  if not is_paused then
    soonest = next_due(waiting, reserved, later)
  elseif is_paused ~= 'forever' then
    soonest = is_paused + 0
  end
  return { is_paused and 'PAUSED' or 'EMPTY', lost or {}, idle(waiter, soonest, ARGV[7] + 0), soonest or '' }
end

-- 5. Lease.
--@include unlock
local leases = slot_of(ARGV[3] .. (has_history == 1 and '\1' or '\0'), entries)
if expiry <= now then expiry = next_due(reserved) or first_deadline end
local head = head_of(kind, token + #ids, acknowledged + acked, math.min(expiry, first_deadline))
call('HSET', ledger, own, leases, 'head', head)
call('ZADD', reserved, int(first_deadline), slot_name)
for n, member in ipairs(members) do
  local ready_one = of_ready[n]
  if ready_one then
    local priority = body_at(records[n]) + 10
    call('ZREM', ready, ready_one)
    call('ZREM', ripe, string.sub(ready_one, 7, 13) .. string.sub(records[n], priority, priority + 3) .. string.sub(ready_one, 14))
  else
    call('ZREM', waiting, member)
  end
end
--@include lateness
for bucket, many in pairs(lateness(records, pasts)) do call('HINCRBY', ledger, 'late' .. bucket, many) end

-- 6. Who waits: somebody must look at what is next once this waiter is busy, and at a lease that ends soon.
if waiter ~= '' or first_deadline - now < 2000 then
  --@include wake
  if waiter ~= '' then try('ZREM', waiters, waiter) end
  local next_one = next_due(waiting, reserved, later, ripe)
  if next_one then wake(next_one) end
end
--@include answer
return answer(leases, records, pasts, lost or {})
