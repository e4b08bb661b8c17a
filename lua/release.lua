-- release.lua: give up to 500 jobs back before their leases end. A job is buried if its next attempt, after one that counts, would come too late.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] due: a delay (µs), or '@' and a moment; '' their old times   ARGV[3] new priority, or '' to keep it
-- ARGV[4] 1: count the attempts; 0: they were started, and no attempt counts; '' as if nobody had reserved them   ARGV[5] a consumer that has had the answer to its last reserve, or ''
-- ARGV[6] why; '' keeps the last error   ARGV[7] the counter: released or failed, and the bucket of the run time; '' counts no run
-- ARGV[8…] in pairs: id · lease; all ids different
-- Returns {"OK", lost, buried} the positions of those that are not ours any more, for which nothing changed, and of those that were buried, as text
-- Cost    O(J log N) for J jobs
--@include clock
--@include due_at
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include ends
--@include bury
--@include back
if #ARGV > 9 then
  -- Of several jobs none is given back where one cannot be.
  --@include check_types
  --@include check_group_types
else
  --@include check_schema
  call('HLEN', meta) -- of a wrong type it must show before the job changes; the others do, where the job is read or placed
end
--@include allow_when_full
local lost, set_aside, ids, held, soonest = '', '', {}, {}, math.huge
for n = 8, #ARGV, 2 do
  local id, lease = ARGV[n], ARGV[n + 1]
  local stored = call('HGET', leases, id) == lease and call('HGET', jobs, id)
  if stored then
    local record = stored
    local _, _, priority = options(record)
    if priority and ARGV[3] ~= '' then
      priority = ARGV[3] + 0
      record = with_priority(record, priority)
    end
    local due = ARGV[2] == '' and read_lease(lease) or due_at(ARGV[2])
    local asked, unasked = asked_for(record)
    record = unasked or record
    if string.sub(ARGV[7], 1, 6) == 'failed' then asked = nil end
    if asked then due = math.min(due, asked) end
    -- Where it fell due first matters to the moments of a job that somebody had in hand.
    local has_moments, is_late = ARGV[4] ~= '' and priority and has_traits(string.byte(record)), false
    local past = (ARGV[4] == '1' or ARGV[6] ~= '' or has_moments) and read_history(id, (read_lease(lease)))
    -- A moment that has passed: it waits from now on.
    if not past and due < now and ARGV[2] ~= '' and (asked or string.byte(ARGV[2]) == 64) then past = read_history(id, now) end
    if past then
      if ARGV[4] == '1' then past.attempts, past.releases = past.attempts + 1, past.releases + 1 end
      if ARGV[6] ~= '' then past.error = ARGV[6] end
      if has_moments then
        --@include moments
        if ARGV[4] == '0' then record = started(record) else is_late = is_too_late(record, past, due) end
        if is_late then bury(id, record, past, past.error ~= '' and past.error or TOO_LATE) end
      end
    end
    ids[#ids + 1], held[#held + 1] = id, lease
    if is_late then
      set_aside = set_aside .. ' ' .. (n - 6) / 2
    else
      place_back(id, record, priority, due)
      if ARGV[4] == '' then
        --@include tokens
        refund(lease)
      end
      if past then write_history(id, record, past) end
      if due < soonest then soonest = due end
    end
    if record ~= stored then call('HSET', jobs, id, past and with_history(record) or record) end
  else
    lost = lost .. ' ' .. (n - 6) / 2
  end
end
if ids[1] and end_leases(ids, held) then soonest = math.min(soonest, now) end
if ids[1] and ARGV[7] ~= '' then call('HINCRBY', meta, ARGV[7], #ids) end
forget_call(ARGV[5])
--@include wake
wake(soonest)
return { 'OK', lost, set_aside }
