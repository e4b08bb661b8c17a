-- push_once.lua: add up to 500 jobs whose receipts the queue does not have, each with its past, and keep the receipts.
-- KEYS    all; KEYS[16] recent ZSET  id → until when it is taken (µs)   KEYS[17] receipts ZSET  receipt → when it was given (µs)
-- ARGV[1] clock offset (µs)   ARGV[2…] nine per job: receipt · id · record, or '' for no job: its id is taken all the same · due: a delay (µs),
--         or '@' and a moment · on duplicate: keep, replace · priority · for how long the id stays taken (µs), or '' · history, or '' · 1: buried, since due
-- Returns {"OK", added, kept, known} kept: their ids were taken · known: their receipts were there, and nothing changed
--       | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(J log N) for J jobs
-- Rights  those of a push; more only where a job may replace another
-- Order   the receipt last: a job without it is kept when the call is repeated.
--@include clock
--@include due_at
--@include keys
--@include record
--@include history
--@include place
--@include debounce
--@include recent
--@include wake
local receipts, may_replace, is_plain = KEYS[17], false, true
for n = 2, #ARGV, 9 do
  may_replace = may_replace or ARGV[n + 4] == 'replace'
  local flags = string.byte(ARGV[n + 2]) or 0
  is_plain = is_plain and not has_traits(flags) and ARGV[n + 5] == '1024' and ARGV[n + 6] == '' and ARGV[n + 7] .. ARGV[n + 8] == ''
end
call('ZCARD', receipts)
call('ZADD', waiting, 'XX', '0', '') -- changes nothing, and is refused in a full Redis, before anything is written
if may_replace or not is_plain then
  call('ZCARD', recent)
  --@include check_types
  --@include check_group_types
end
if may_replace then
  --@include lease
  --@include bury
  --@include reclaim
  if reclaim() then return { 'AGAIN' } end -- a lease that is over is nobody's
end
local added, kept, known, soonest = 0, 0, 0, math.huge

local function add(n, id, record, old_due, where, replaces)
  local due, past, latest = due_at(ARGV[n + 3], (n - 2) / 9), ARGV[n + 7], nil
  local old = replaces and old_due and wait_limit(record) and call('HGET', jobs, id)
  record, latest = debounced(record, old and not has_come_back(id, old) and old)
  if replaces then
    call('HDEL', history, id)
    call('HINCRBY', meta, 'replaced', 1)
  end
  if past ~= '' then
    -- A past without its first due time: the job falls due now, or later.
    local first_due = struct.unpack('>I8', past, 21)
    call('HSET', history, id, string.sub(past, 1, 20) .. struct.pack('>I8', first_due > 0 and first_due or math.max(due, now)) .. string.sub(past, 29))
    record = with_history(record)
  elseif due < now then
    record = waits_from_now(id, record)
  end
  if ARGV[n + 8] == '1' then
    call('ZADD', buried, int(due), id)
    if old_due and unplace(id, old_due, where, where == grouped and call('HGET', jobs, id)) then soonest = math.min(soonest, now) end
  else
    due = math.min(due, latest or due)
    local is_opened = place(id, ARGV[n + 5] + 0, due, group_of(record), old_due, where, where == grouped and call('HGET', jobs, id))
    if replaces and not old_due then call('ZREM', buried, id) end
    soonest = math.min(soonest, due, is_opened and now or due)
  end
  call('HSET', jobs, id, record)
end

for n = 2, #ARGV, 9 do
  local receipt, id, record, unique = ARGV[n], ARGV[n + 1], ARGV[n + 2], ARGV[n + 6]
  if call('ZSCORE', receipts, receipt) then
    known = known + 1
  else
    local is_there, is_kept = call('HEXISTS', jobs, id) == 1, unique ~= '' and is_recent(id)
    local old_due, where = waits(id, not is_there)
    local replaces = ARGV[n + 4] == 'replace' and is_there and (old_due or not is_kept and call('ZSCORE', buried, id))
    if record == '' or replaces or not is_there and not is_kept then
      if record ~= '' then add(n, id, record, old_due, where, replaces) end
      if unique ~= '' then take_id(id, unique + 0) end
      added = added + 1
    else
      kept = kept + 1
    end
    call('ZADD', receipts, int(now), receipt)
  end
end
wake(soonest)
return { 'OK', added, kept, known }
