-- reserve.lua: acknowledge jobs, and lease the next ready ones. Those that are too late to be run end on the way.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] consumer   ARGV[3] number of the call   ARGV[4] most jobs; 0: only tell whether one is ready
-- ARGV[5] '', or five words: 1 if the call may have been executed before · most bytes of records · waiter, or '-' · longest wait
--         (µs; 0: it waits no longer) · 1 if it may be time for a snapshot of the counters
-- ARGV[6] to acknowledge: the buckets of the run times, two digits for each job, or two for all   ARGV[7…] in pairs: id · lease
-- Returns {"JOBS", lost, now, …} then four per job: id · lease · record · history, or ''; lost: the positions of those to acknowledge that
--         are not ours any more
--       | {"READY", lost} a job is ready, and was not to be leased
--       | {"EMPTY", lost, wait} nothing is ready: look again after this long (µs; -1: nothing is coming)   | {"PAUSED", lost, wait}
--       | {"AGAIN", lost} a bounded part of the housekeeping is done: call again without acknowledging
-- Cost    O((J+A) log N) for J jobs leased and A acknowledged; 11 commands, 4 more to acknowledge, 1 more where such a job came back before,
--         1 per bucket of lateness and of run times, 1 per history, 2 where such a job waits longer than it is late, 1 for 5 more jobs; for a
--         snapshot 3 more and 1 per old one
-- Order   lease before place: an error between the two may deliver twice, never lose.
local KEYS, ARGV = KEYS, ARGV
--@include clock
--@include keys
local consumer, most, now_text, lost, is_let_in = ARGV[2], ARGV[4], int(now), {}, false
local is_repeat, most_bytes, waiter, longest_us = '0', 2000000, '-', 0
if ARGV[5] ~= '' then
  local wants_snapshot
  is_repeat, most_bytes, waiter, longest_us, wants_snapshot = string.match(ARGV[5], '^(%S+) (%S+) (%S+) (%S+) (%S+)$')
  if wants_snapshot == '1' then
    --@include snapshot
    snapshot() -- before this call counts anything
  end
end
if ARGV[6] then
  --@include ends
  --@include acknowledge
  lost, is_let_in = acknowledge('acked', ARGV[6], 7)
end

-- 1. Pick the jobs: id · due, in their order.
local picked, pick_more, paused_until, dropped, wanted = nil, nil, nil, false, most == '0' and '1' or most
local has_more, of, cap, lend_theirs = call('EXISTS', prioritized, line, limits) > 0, nil, nil, nil
local is_prioritized = has_more and call('EXISTS', prioritized) == 1
if is_prioritized or is_repeat == '1' or call('HEXISTS', meta, 'paused') == 1
  or call('ZCOUNT', reserved, '-inf', now_text) > 0 then
  --@include record
  --@include history
  --@include place
  --@include lease
  --@include bury
  --@include reclaim
  --@include promote
  --@include pause_end
  if is_repeat == '1' then
    --@include give_back
    --@include undo_call
    undo_call(consumer, ARGV[3])
  end
  local is_more = reclaim()
  is_prioritized = call('EXISTS', prioritized) == 1 -- jobs may have come back there
  has_more = is_prioritized or call('EXISTS', line, limits) > 0
  if is_prioritized then is_more = promote() or is_more end
  if is_more then return { 'AGAIN', lost } end
  paused_until = pause_end()
end
if has_more and not paused_until then
  local take_groups, is_more
  if not is_prioritized or call('EXISTS', line, limits) > 0 then
    --@include turns
    --@include take_turns
    --@include lend
    take_groups, lend_theirs = take_turns, lend
    if has_limits then
      --@include cap
      cap = cap_of(wanted + 0)
      if cap then wanted, paused_until = cap.wanted, cap.closed_until end
    end
  end
  if is_prioritized and not paused_until then
    --@include pick
    picked, dropped, of, is_more = pick(wanted + 0, take_groups)
    pick_more = function(many) return pick(many, take_groups) end
  elseif not paused_until then
    pick_more = function(many)
      local found = {}
      local of_groups, has_wrong = take_groups(found, many)
      return found, false, of_groups, has_wrong
    end
    picked, dropped, of, is_more = pick_more(wanted + 0)
  end
  if is_more and not picked[1] then return { 'AGAIN', lost } end
end
if paused_until then picked = {} end
picked = picked or call('ZRANGEBYSCORE', waiting, '-inf', now_text, 'WITHSCORES', 'LIMIT', '0', wanted)

-- 2. Read their records, 5 at a time: Redis joins the values of one reply in quadratic time, and those behind the limit are read for nothing.
-- A job whose lease expired once, or that has one attempt left, is leased alone. Where jobs end because they are too late, it looks further: at
-- 500 jobs in all, and at 4 MB of those that end.
local ids, dues, records, ttrs, pasts, count, bytes = {}, {}, {}, {}, {}, 0, 0
local is_full, first, late, late_bytes, has_picked_more, ends_late = false, 1, 0, 0, false, nil
while picked[first] and not is_full do
  local names = {}
  for n = first, math.min(first + 8, #picked - 1), 2 do names[#names + 1] = picked[n] end
  local found = call('HMGET', jobs, unpack(names))
  for n = 1, #names do
    local id, record, due, is_alone, ttr_ms, past = names[n], found[n], picked[first + 2 * n - 1], false, nil, nil
    local job = of and of[id]
    local flags = record and string.byte(record)
    if flags == 4 and job and string.sub(record, 8, 11 + #job[4].group) == job[4].traits then
      flags = 0 -- a job of its group, and with nothing else to read
    end
    if flags ~= 0 or #record < 7 then
      --@include record
      local own_ttr_ms, max_attempts = options(record or '')
      if job and own_ttr_ms and group_of(record) ~= job[4].group then
        call('ZREM', groups, job[3]) -- an entry in the book of another group means nothing
        record, dropped = nil, true
      elseif own_ttr_ms then
        local attempts, timeouts = 0, 0
        if has_history(flags) then past = call('HGET', history, id) end
        if past and #past >= 20 then attempts, timeouts = struct.unpack('>I4I4', past) end
        is_alone = timeouts > 0 or max_attempts > 0 and attempts + 1 >= max_attempts
        ttr_ms = own_ttr_ms
        if not is_full and has_traits(flags) and (trait_at(record, 'E') or trait_at(record, 'U')) then
          if not ends_late then
            --@include expire
            ends_late = expire
          end
          if ends_late(id, record, due + 0, job and grouped or not is_prioritized and waiting) then
            late, late_bytes, record, dropped = late + 1, late_bytes + #record, nil, true
            is_full = late_bytes > 4000000
          end
        end
      else
        --@include discard
        if job and not call('ZSCORE', grouped, id) then record = nil end -- it lies elsewhere
        discard(id, record, due + 0, job and grouped)
        if job then call('ZREM', groups, job[3]) end
        record, dropped = nil, true
      end
    end
    if record then
      if count > 0 and (is_alone or bytes + #record > most_bytes + 0) then is_full = true end
      if is_full then break end
      count, is_full, bytes = count + 1, is_alone, bytes + #record
      ids[count], dues[count], records[count], ttrs[count], pasts[count] = id, due, record, ttr_ms, past
      if has_picked_more and count == wanted + 0 then is_full = true end
    end
  end
  first = first + 10
  if late > 0 and not picked[first] and not (is_full or has_picked_more or lend_theirs and count > 0) then
    has_picked_more, first = true, 2 * count + 1
    local _, many = nil, 500 - late
    if pick_more then
      picked, _, of = pick_more(many)
    else
      picked = call('ZRANGEBYSCORE', waiting, '-inf', now_text, 'WITHSCORES', 'LIMIT', 0, many)
    end
  end
end

-- 3. Nothing to lease.
if count == 0 or most == '0' then
  --@include next_due
  --@include wake
  --@include idle
  if count > 0 then
    if waiter ~= '-' then
      try('ZREM', waiters, waiter)
      wake(now) -- the job is still there for others
    end
    return { 'READY', lost }
  end
  if dropped then return { 'AGAIN', lost } end
  call('HDEL', leases, '\n' .. consumer)
  local wait_us = idle(waiter, paused_until or next_due(), longest_us + 0)
  return { paused_until and 'PAUSED' or 'EMPTY', lost, int(wait_us) }
end

-- 4. Lease.
if #lost * 2 >= #ARGV - 6 then -- nothing has been acknowledged
  --@include allow_when_full
end
local token = call('HINCRBY', meta, 'token', int(count)) - count
local reply, new_leases, deadlines, late, waited, deadline = { 'JOBS', lost, now_text }, {}, {}, {}, nil, int(now + 60000000)
local shortest_ms, theirs, their_ids = 60000, nil, nil
for n = 1, count do
  local id, due, past, ttr_ms, at = ids[n], dues[n], pasts[n], ttrs[n], 2 * n
  local lease
  if of or cap then
    local job = of and of[id]
    if job then
      theirs, their_ids = theirs or {}, their_ids or {}
      theirs[#theirs + 1], their_ids[#their_ids + 1] = job, id
    end
    local marks = (past and 'h' or '') .. (job and 'g' or '') .. (cap and 'l' or '')
    lease = string.format('%d %s %s %s', token + n, due, marks == '' and '-' or marks, consumer) .. (job and ' ' .. job[4].group or '')
  else
    lease = string.format(past and '%d %s h %s' or '%d %s - %s', token + n, due, consumer)
  end
  new_leases[at - 1], new_leases[at] = id, lease
  deadlines[at - 1], deadlines[at] = ttr_ms and int(now + ttr_ms * 1000) or deadline, id
  if ttr_ms and ttr_ms < shortest_ms then shortest_ms = ttr_ms end
  at = 4 * n
  reply[at], reply[at + 1], reply[at + 2], reply[at + 3] = id, lease, records[n], past or ''
  local first_due = past and #past >= 28 and struct.unpack('>I8', past, 21)
  -- A job whose moment had passed when it was pushed waits since then.
  local since = first_due and math.min(math.max(first_due, due), now) or due
  local mantissa, exponent = math.frexp((now - since) / 1000 + 1) -- as in lib/bucket.lua
  local bucket = 2 * exponent - (mantissa < 0.70710678118654752 and 2 or 1)
  late[bucket] = (late[bucket] or 0) + 1
  if first_due then
    --@include bucket
    -- It waits since it first fell due: of the wait times, only the differences to the lateness are stored.
    local wait = bucket_of(now - first_due)
    waited = waited or {}
    waited[bucket] = (waited[bucket] or 0) - 1
    waited[wait] = (waited[wait] or 0) + 1
  end
end
if theirs then call('ZCARD', grouped) end -- of a wrong type it must show before a job is leased
--@include call_of
call('HSET', leases, '\n' .. consumer, call_of(ARGV[3], ids), unpack(new_leases))
call('ZADD', reserved, unpack(deadlines))
if is_prioritized then
  --@include place
  for n = 1, count do
    if not (of and of[ids[n]]) then unplace(ids[n], dues[n] + 0, prioritized) end
  end
end
if not theirs or #theirs < count then call('ZREM', waiting, unpack(ids)) end
if theirs then
  call('ZREM', grouped, unpack(their_ids))
  lend_theirs(theirs)
end
if cap and cap.interval > 0 then call('ZADD', spent, int(cap.spent_until + count * cap.interval), '\n') end
for bucket, many in pairs(late) do call('HINCRBY', meta, 'late' .. bucket, int(many)) end
if waited then
  for bucket, many in pairs(waited) do
    if many ~= 0 then call('HINCRBY', meta, 'wait' .. bucket, int(many)) end
  end
end

-- 5. Once this waiter is busy, another one must look at the next moment, and at a lease that ends before idle consumers check again.
if waiter ~= '-' or is_let_in or shortest_ms < 6000 then
  --@include next_due
  --@include wake
  try('ZREM', waiters, waiter)
  local soonest = next_due()
  if soonest then wake(soonest) end
end
return reply
