-- push_any.lua: add up to 500 jobs of any priority and time, each with its own rule for a taken id; all or none.
-- KEYS    all; KEYS[16] recent ZSET  id → until when it is taken (µs): only where a job of the call has such a time
-- ARGV[1] clock offset (µs)   ARGV[2] 1: a repeat of a push whose answer was lost   ARGV[3] most jobs that the queue may hold, or ''
-- ARGV[4…] six per job: id · record · due: a delay (µs), or '@' and a moment · on duplicate: fail, keep, replace · priority ·
--         for how long the id stays taken (µs), or ''
-- Returns {"OK", kept} kept: of how many jobs the id was taken, and what is there was kept
--       | {"DUPLICATE", id} | {"RESERVED", id} a reserved job is not replaced | {"FULL", jobs, how many more}: nothing changed
-- Cost    O(J log N) for J jobs
-- Rights  as push.lua
--@include clock
--@include due_at
--@include keys
--@include record
--@include history
--@include place
--@include debounce
--@include recent
local ids = {}
for at = 4, #ARGV, 6 do ids[#ids + 1] = ARGV[at] end

-- 1. Look, change nothing.
call('ZCARD', prioritized_ready) -- of a wrong type it must show before a job changes
local is_taken, last, skip, kept, replaced, renewed, stored, came_back, over, proofs = {}, {}, {}, 0, 0, {}, {}, {}, {}, {}
local olds, records, latest, is_again, was_stored, replaces, added = {}, {}, {}, ARGV[2] == '1', false, false, 0
for n, id in ipairs(ids) do
  local record = ARGV[6 * n - 1]
  is_taken[n], replaces = call('HEXISTS', jobs, id) == 1, replaces or ARGV[6 * n + 1] == 'replace'
  local old = is_taken[n] and (is_again or wait_limit(record)) and call('HGET', jobs, id)
  olds[n], came_back[id] = old, came_back[id] or old and has_come_back(id, old)
  if is_again and old and string.sub(old, 2) == string.sub(debounced(record, old), 2) then
    was_stored, stored[id] = true, n
  end
end
for n, id in ipairs(ids) do
  local mode, old = ARGV[6 * n + 1], is_taken[n]
  local is_kept = ARGV[6 * n + 3] ~= '' and is_recent(id)
  -- Of a job whose id is taken for some time, only one that waits.
  local may_replace = mode == 'replace' and (last[id] or old and (not is_kept or waits(id)))
  if was_stored then
    -- One record proves that the try whose answer was lost has stored them all; those that are gone are done. But a job that was to be replaced
    -- may look the same, and have another due time. So jobs that no worker has held since are placed again: all, to keep their order.
    skip[n] = not replaces or stored[id] ~= n or came_back[id] or call('ZSCORE', reserved, id)
    if not skip[n] then renewed[#renewed + 1] = id end
  elseif is_kept and is_again and not may_replace then
    skip[n] = true -- it was stored by that try, or by another push: nobody can tell
  elseif old or last[id] or is_kept then
    if mode == 'fail' then return { 'DUPLICATE', id } end
    if not may_replace then
      skip[n], kept = true, kept + 1
    else
      local deadline = old and not last[id] and call('ZSCORE', reserved, id)
      if deadline then
        -- A lease that is over, and that no worker has noticed, is nobody's. A user who may not read it leaves that to a worker.
        local lease = deadline + 0 <= now and try('HGET', leases, id)
        if type(lease) ~= 'string' then return { 'RESERVED', id } end
        over[#over + 1], proofs[#proofs + 1] = id, lease
      end
      if last[id] then skip[last[id]] = true end
      if old then renewed[#renewed + 1] = id end
      replaced = replaced + 1
    end
  end
  if not skip[n] then
    if not old and not last[id] then added = added + 1 end
    -- A job that came back was served: the next debounce begins.
    local before = last[id] and records[last[id]] or olds[n] and not came_back[id] and waits(id) and olds[n]
    records[n], latest[n] = debounced(ARGV[6 * n - 1], before)
    last[id] = n
  end
end
if ARGV[3] ~= '' and added > 0 then
  local many = call('HLEN', jobs)
  if many + added > ARGV[3] + 0 then return { 'FULL', many, added } end
end

local has_groups = replaces
for n in ipairs(ids) do has_groups = has_groups or not skip[n] and has_traits(string.byte(records[n])) end
if has_groups then
  --@include check_types
  --@include check_group_types
end

-- 2. Write. Places before records (see push.lua).
call('ZADD', waiting, 'XX', '0', '') -- changes nothing, and is refused in a full Redis
if renewed[1] then call('HDEL', history, unpack(renewed)) end
local changes, soonest = {}, math.huge
for n, id in ipairs(ids) do
  if not skip[n] then
    local due, old_due, where = due_at(ARGV[6 * n], n - 1), waits(id, not is_taken[n] and last[id] == n)
    if due < now then records[n] = waits_from_now(id, records[n]) end
    due = math.min(due, latest[n] or due)
    local group = has_traits(string.byte(records[n])) and group_of(records[n]) or nil
    local is_opened = place(id, ARGV[6 * n + 2] + 0, due, group, old_due, where, where == grouped and call('HGET', jobs, id))
    changes[#changes + 1], changes[#changes + 2] = id, records[n]
    soonest = math.min(soonest, due, is_opened and now or due)
  end
end
if changes[1] then call('HSET', jobs, unpack(changes)) end
if renewed[1] then call('ZREM', buried, unpack(renewed)) end
if over[1] then
  --@include lease
  --@include ends
  --@include forget_calls
  if end_leases(over, proofs) then soonest = math.min(soonest, now) end
  forget_calls(proofs)
  call('HINCRBY', meta, 'timed_out', #over)
end
if replaced > 0 then call('HINCRBY', meta, 'replaced', replaced) end
for n, id in ipairs(ids) do
  if not skip[n] and ARGV[6 * n + 3] ~= '' then take_id(id, ARGV[6 * n + 3] + 0) end
end
--@include wake
wake(soonest)
return { 'OK', kept }
