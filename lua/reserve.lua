-- reserve.lua: acknowledge jobs, and lease the next ready ones. Those that are too late to be run end on the way.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] consumer   ARGV[3] number of the call   ARGV[4] most jobs; 0: only tell whether one is ready
-- ARGV[5] letters, or '': r the call may have been executed before, s it may be time for a snapshot of the counters   ARGV[6] most bytes of records
-- ARGV[7] waiter, or ''   ARGV[8] its longest wait (µs; 0: it waits no longer)
-- ARGV[9] the buckets of the run times of jobs to acknowledge, two digits for each, or two for all   ARGV[10…] these jobs in pairs: id · lease
-- Returns {"JOBS", lost, now, …} then four per job: id · lease · record · history, or ''; lost: the positions of those to acknowledge that
--         are not ours any more, as text
--       | {"READY", lost} a job is ready, and was not to be leased
--       | {"EMPTY", lost, wait} nothing is ready: look again after this long (µs; -1: nothing is coming)   | {"PAUSED", lost, wait}
--       | {"AGAIN", lost} a bounded part of the housekeeping is done: call again without acknowledging
-- Cost    O((J+A) log N) for J jobs leased and A acknowledged; 10 commands, 4 more to acknowledge, 1 more where such a job came back before,
--         1 per bucket of lateness and of run times, 1 per history, 2 where such a job waits longer than it is late, 1 for 8 more jobs, 2 where
--         there are more than 8; for a snapshot 3 more and 1 per old one
-- Order   lease before place: an error between the two may deliver twice, never lose.
local ARGV = ARGV
--@include clock
--@include options
--@include bucket
-- As in lib/keys.lua, which only the rare parts include: they are cheaper to make when they have keys of their own.
local jobs, waiting, reserved, leases, meta, history = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local waiters, prioritized, grouped, groups, line, limits, spent = KEYS[8], KEYS[9], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15]
local consumer, most, marks, waiter, now_text = ARGV[2], ARGV[4], ARGV[5], ARGV[7], int(now)
local lost, is_let_in, has_ended, is_repeat = '', false, false, false
local _, DEFAULT_TTR_MS, DEFAULT_MAX_ATTEMPTS = read_options('\0')
-- Functions for calls that are out of the ordinary: a plain call builds none of them.
local rare = {}
local function rarely(part)
  --@include rarely
end
if marks ~= '' then
  is_repeat = string.find(marks, 'r', 1, true) ~= nil
  if string.find(marks, 's', 1, true) then
    --@include snapshot
    snapshot() -- before this call counts anything
  end
end

-- 1. Acknowledge.
if ARGV[10] then
  local outcome, runs, from = 'acked', ARGV[9], 10
  --@include acknowledge
  if is_marked then
    rarely('groups')
    is_let_in = rare.end_jobs(ids, held)
  elseif ids[1] then
    --@include done
  end
  if ids[1] then
    --@include count_runs
    has_ended = true
  end
end

-- 2. Pick the jobs: id · due, in their order.
local picked, wanted, is_prioritized, has_turns, of, cap, closed_until, look, has_dropped = nil, most == '0' and '1' or most
local others = call('EXISTS', prioritized, line, limits)
if others > 0 or is_repeat or call('ZCOUNT', reserved, '-inf', now_text) > 0 then
  --@include pick_rarely
else
  picked = call('ZRANGEBYSCORE', waiting, '-inf', now_text, 'WITHSCORES', 'LIMIT', '0', wanted)
end

-- 3. Read their records, 8 at a time: Redis joins the values of one reply in quadratic time, and those behind the limit are read for nothing.
-- A job whose lease expired once, or that has one attempt left, is leased alone.
local ids, dues, deadlines, reply, count, bytes, is_full = {}, {}, {}, { 'JOBS', lost, now_text }, 0, 0, not picked
local late, late_bytes, has_looked_behind = 0, 0, false
local first, deadline, shortest_ms, most_bytes = 1, int(now + DEFAULT_TTR_MS * 1000), DEFAULT_TTR_MS, most == '1' or ARGV[6] + 0
while not is_full and picked[first] do
  local names = {}
  for n = first, math.min(first + 14, #picked - 1), 2 do names[#names + 1] = picked[n] end
  local found = call('HMGET', jobs, unpack(names))
  for n, id in ipairs(names) do
    local record, due, ttr_ms, max_attempts = found[n], picked[first + 2 * n - 1], DEFAULT_TTR_MS, DEFAULT_MAX_ATTEMPTS
    local flags, past, is_alone = record and string.byte(record), '', false
    if flags ~= 0 or #record < 7 then
      --@include look_closer
    end
    is_full = is_full or record and count > 0 and (is_alone or bytes + #record > most_bytes)
    if is_full then break end
    if record then
      count, bytes, is_full = count + 1, bytes + #record, is_alone or has_looked_behind and count + 1 == wanted + 0
      ids[count], dues[count] = id, due
      -- One by one, from the first on: Lua puts what has no neighbour yet into a hash.
      deadlines[2 * count - 1] = ttr_ms == DEFAULT_TTR_MS and deadline or int(now + ttr_ms * 1000)
      deadlines[2 * count] = id
      reply[4 * count] = id
      reply[4 * count + 1] = ''
      reply[4 * count + 2] = record
      reply[4 * count + 3] = past
      if ttr_ms < shortest_ms then shortest_ms = ttr_ms end
      if is_full then break end
    end
  end
  first = first + 16
  if late > 0 and not (is_full or picked[first] or has_looked_behind) then
    --@include look_behind
  end
end

-- 4. Lease them.
if count > 0 and most ~= '0' then
  if not has_ended then
    --@include allow_when_full
  end
  local token, new_leases, lateness, waited = call('HINCRBY', meta, 'token', count == 1 and '1' or int(count)) - count, {}, {}, nil
  local oldest, behind = bucket_of(now - dues[1]), ' ' .. consumer
  -- The oldest job is the first one and the newest the last, unless there are priorities or groups: those between are as late as both.
  local all_late = not look and (count == 1 or bucket_of(now - dues[count]) == oldest) and oldest
  for n = 1, count do
    local id, due, past = ids[n], dues[n], reply[4 * n + 3]
    -- When its worker dies, the handler of a job that was leased behind another one may not have begun.
    local mark, group = past == '' and (n == 1 and '- ' or 'a ') or n == 1 and 'h ' or 'ha ', ''
    if look then
      --@include mark_rarely
    end
    local lease = mark .. int(token + n) .. ' ' .. due .. behind .. group
    reply[4 * n + 1] = lease
    new_leases[2 * n - 1] = id
    new_leases[2 * n] = lease
    local first_due = #past >= 28 and struct.unpack('>I8', past, 21)
    -- A job whose moment had passed when it was pushed waits since then.
    local bucket = not first_due and all_late or bucket_of(now - (first_due and math.min(math.max(first_due, due), now) or due))
    lateness[bucket] = (lateness[bucket] or 0) + 1
    if first_due then
      -- It waits since it first fell due: of the wait times, only the differences to the lateness are stored.
      local wait = bucket_of(now - first_due)
      waited = waited or {}
      waited[bucket] = (waited[bucket] or 0) - 1
      waited[wait] = (waited[wait] or 0) + 1
    end
  end
  --@include call_of
  call('HSET', leases, '\n' .. consumer, call_of(ARGV[3], ids), unpack(new_leases))
  -- Redis looks through all of up to 128 leases for each, unless an entry was longer than 64 bytes.
  local long = count > 8 and string.rep(' ', 65)
  if long then call('ZADD', reserved, 'inf', long) end
  call('ZADD', reserved, unpack(deadlines))
  if long then call('ZREM', reserved, long) end
  if look then
    --@include take_rarely
  else
    call('ZREM', waiting, unpack(ids))
  end
  for bucket, many in pairs(lateness) do call('HINCRBY', meta, string.format('late%d', bucket), many == 1 and '1' or int(many)) end
  for bucket, many in pairs(waited or {}) do
    if many ~= 0 then call('HINCRBY', meta, 'wait' .. bucket, int(many)) end
  end
  if waiter == '' and not is_let_in and shortest_ms >= 6000 then return reply end
end
--@include reserve_end
