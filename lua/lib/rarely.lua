-- lib/rarely.lua: what reserve.lua does where something is out of the ordinary: an expired lease, a pause, priorities, groups, limits, a repeated
-- call, a job that is too late or cannot be read.
local call, try, consumer, now_text = redis.call, redis.pcall, ARGV[2], int(now)
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include take_back
--@include promote
--@include pause_end
--@include pick
--@include turns
--@include take_turns
--@include lend
--@include cap
--@include give_back
--@include undo_call
--@include expire
--@include discard
-- Whether the queue has priorities, and groups or limits; the picked jobs of groups, id → job; the limits of the queue; until when it gives nothing.
local is_prioritized, has_turns, of, cap, closed_until = false, false, nil, nil, nil
-- How many jobs have ended because they were too late, and their bytes; whether entries were dropped, behind which there may be jobs.
local late, late_bytes, has_dropped, has_looked_behind = 0, 0, false, false
-- The next jobs, id · due; and true if groups had nothing to give, and there may be more of them.
local function look(many)
  local found, is_more, has_wrong = {}, false, false
  if is_prioritized then
    found, has_wrong, of, is_more = pick(many, has_turns and take_turns)
    has_dropped = has_dropped or has_wrong
  elseif has_turns then
    of, is_more = take_turns(found, many)
  else
    found = call('ZRANGEBYSCORE', waiting, '-inf', now_text, 'WITHSCORES', 'LIMIT', '0', int(many))
  end
  return found, is_more
end
rare = { end_jobs = end_jobs }
-- The next jobs, of which so many may be leased; and whether a group, or the queue, has room again. Nil: a bounded part of the housekeeping is done.
function rare.pick(most, is_repeat)
  if is_repeat then undo_call(consumer, ARGV[3]) end
  local is_more, is_let_in = take_back()
  is_prioritized = call('EXISTS', prioritized) == 1 -- jobs may have come back there
  if is_prioritized then is_more = promote() or is_more end
  if is_more then return nil, most, is_let_in end
  closed_until, has_turns = pause_end(), call('EXISTS', line, limits) > 0
  cap = has_turns and has_limits and not closed_until and cap_of(most) or nil
  if cap then most, closed_until = cap.wanted, cap.closed_until end
  if closed_until then return {}, most, is_let_in end
  local picked
  picked, is_more = look(most)
  if is_more and not picked[1] then return nil, most, is_let_in end
  if of then call('ZCARD', grouped) end -- of a wrong type it must show before a job is leased
  return picked, most, is_let_in
end
-- The TTR and the attempts of a job. Nil: it has ended, or means nothing; and true, if no more is to be read.
function rare.examine(id, record, due)
  local job = of and of[id]
  local ttr_ms, max_attempts = options(record or '')
  if job and ttr_ms and group_of(record) ~= job[4].group then
    call('ZREM', groups, job[3]) -- an entry in the book of another group means nothing
  elseif not ttr_ms then
    if job and not call('ZSCORE', grouped, id) then record = nil end -- it lies elsewhere
    discard(id, record, due + 0, job and grouped)
    if job then call('ZREM', groups, job[3]) end
  elseif has_traits(string.byte(record)) and (trait_at(record, 'E') or trait_at(record, 'U'))
    and expire(id, record, due + 0, job and grouped or not is_prioritized and waiting) then
    late, late_bytes = late + 1, late_bytes + #record
  else
    return ttr_ms, max_attempts
  end
  has_dropped = true
  return nil, late_bytes > 4000000
end
-- Where jobs have ended because they were too late: those behind them, 500 jobs in all. It looks there once; beside groups only if it has no other job.
function rare.look_behind(count)
  if late == 0 or has_looked_behind or has_turns and count > 0 then return nil end
  has_looked_behind = true
  return (look(500 - late))
end
function rare.lease(id, token, due, past)
  local job = of and of[id]
  local marks = (past ~= '' and 'h' or '') .. (job and 'g' or '') .. (cap and 'l' or '')
  return string.format('%s %d %s %s', marks == '' and '-' or marks, token, due, consumer) .. (job and ' ' .. job[4].group or '')
end
-- Takes leased jobs from where they waited.
function rare.take(ids, dues)
  local theirs, their_ids = {}, {}
  for n, id in ipairs(ids) do
    local job = of and of[id]
    if job then
      theirs[#theirs + 1], their_ids[#their_ids + 1] = job, id
    elseif is_prioritized then
      unplace(id, dues[n] + 0, prioritized)
    end
  end
  if #theirs < #ids then call('ZREM', waiting, unpack(ids)) end
  if theirs[1] then
    call('ZREM', grouped, unpack(their_ids))
    lend(theirs)
  end
  if cap and cap.interval > 0 then call('ZADD', spent, int(cap.spent_until + #ids * cap.interval), '\n') end
end
-- Whether there may be jobs behind entries that were dropped, and until when the queue gives nothing.
function rare.why_none() return has_dropped, closed_until end
