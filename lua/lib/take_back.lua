-- lib/take_back.lua: takes back up to 100 jobs whose lease ran out: to their old place in the order, or buried when no attempt is left,
-- or the next one would come too late. A script that `only_looks` leaves them where Redis refuses to write, or the user may not: they count as
-- reserved until a script that writes looks. Returns whether more are left, and whether a group, or the queue, has room again.
--@include ends
--@include back
--@include may_write
--@include bury
--@include bucket
--@include moments
--@include forget_calls
-- The last error of such a job has a second line, for clients alone: host and process of the workers that held it, as far as 400 bytes go.
local function expired(before, consumer)
  local worker = string.match(consumer or '', '@(.+)$')
  local workers = string.match(before, '^lease expired\n(.+)$')
  if not worker then return workers end
  if not workers then return worker end
  if #workers > 400 or string.find(', ' .. workers .. ',', ', ' .. worker .. ',', 1, true) then return workers end
  return workers .. ', ' .. worker
end
local function take_back(only_looks)
  local ended = call('ZRANGEBYSCORE', reserved, '-inf', int(now), 'LIMIT', 0, 100)
  if not ended[1] or only_looks and not may_write() then return false, false end
  --@include check_types
  --@include check_group_types
  --@include allow_when_full
  local timed_out, ended_leases = {}, {}
  for _, id in ipairs(ended) do
    local lease = call('HGET', leases, id)
    local record, due, consumer, _, marks = call('HGET', jobs, id), read_lease(lease)
    ended_leases[#ended_leases + 1] = lease or false
    local group = record and not lease and group_of(record)
    if group then call('ZREM', groups, group .. '\nh' .. id) end -- another program has taken the lease away
    if record then
      local past, ttr_ms, max_attempts, priority = read_history(id, due), options(record)
      local workers = expired(past.error, consumer)
      -- Of a batch only the first job counts an attempt, and a run. The next lease of the others is theirs alone, and counts.
      local counts = not string.find(marks, 'a', 1, true)
      past.attempts, past.timeouts, past.error = past.attempts + (counts and 1 or 0), past.timeouts + 1, 'lease expired'
      -- Nobody knows when the worker stopped: the job counts as one that ran for its TTR.
      local run = counts and ttr_ms and bucket_of(ttr_ms * 1000) or ''
      timed_out[run] = (timed_out[run] or 0) + 1
      local is_spent = max_attempts and max_attempts > 0 and past.attempts >= max_attempts
      if not is_spent and ttr_ms and has_traits(string.byte(record)) then
        is_spent = is_too_late(record, past, due)
      end
      if is_spent then
        bury(id, record, past, past.error .. (workers and ', held by ' .. workers or ''))
      else
        past.error = past.error .. (workers and '\n' .. workers or '')
        place_back(id, record, priority, due)
        write_history(id, record, past)
      end
    end
  end
  local is_let_in = end_leases(ended, ended_leases)
  forget_calls(ended_leases)
  for run, many in pairs(timed_out) do call('HINCRBY', meta, 'timed_out' .. run, many) end
  return #ended == 100, is_let_in
end
