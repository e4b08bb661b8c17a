-- push_any.lua: add up to 500 jobs of any priority, each with its own rule for a taken id; all or none.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] 1: a repeat of a push whose answer was lost
-- ARGV[3…] five per job: id · record · due: a delay (µs), or '@' and a moment · on duplicate: fail, keep, replace · priority
-- Returns "OK" | {"DUPLICATE", id} nothing changed | {"RESERVED", id} nothing changed: a reserved job is not replaced
-- Cost    O(J log N) for J jobs
-- Rights  as push.lua
--@include clock
--@include keys
--@include record
--@include place
local ids = {}
for at = 3, #ARGV, 5 do ids[#ids + 1] = ARGV[at] end

-- 1. Look, change nothing.
--@include check_types
local is_taken, last, skip, replaced, renewed, stored, is_aged, over, proofs = {}, {}, {}, 0, {}, {}, {}, {}, {}
local was_stored, replaces = false, false
for n, id in ipairs(ids) do
  is_taken[n], replaces = call('HEXISTS', jobs, id) == 1, replaces or ARGV[5 * n + 1] == 'replace'
  local old = ARGV[2] == '1' and is_taken[n] and call('HGET', jobs, id)
  if old and string.sub(old, 2) == string.sub(ARGV[5 * n - 1], 2) then
    was_stored, stored[id], is_aged[id] = true, n, has_history(string.byte(old))
  end
end
for n, id in ipairs(ids) do
  local mode, old = ARGV[5 * n + 1], is_taken[n]
  if was_stored then
    -- One record proves that the try whose answer was lost has stored them all; those that are gone are done. But a job that was to be replaced
    -- may look the same, and have another due time. So jobs that no worker has held since are placed again: all, to keep their order.
    skip[n] = not replaces or stored[id] ~= n or is_aged[id] or call('ZSCORE', reserved, id)
  elseif old or last[id] then
    if mode == 'fail' then return { 'DUPLICATE', id } end
    if mode == 'keep' then skip[n] = true end
    if mode == 'replace' then
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
  if not skip[n] then last[id] = n end
end

-- 2. Write. Places before records (see push.lua).
call('ZADD', waiting, 'XX', '0', '') -- changes nothing, and is refused in a full Redis
local records, soonest = {}, math.huge
for n, id in ipairs(ids) do
  if not skip[n] then
    local due, old_due, was_prioritized = due_at(ARGV[5 * n]), waits(id)
    if string.byte(ARGV[5 * n]) ~= 64 then due = due + n - 1 end
    place(id, ARGV[5 * n + 2] + 0, due, old_due, was_prioritized)
    records[#records + 1], records[#records + 2] = id, ARGV[5 * n - 1]
    if due < soonest then soonest = due end
  end
end
if records[1] then call('HSET', jobs, unpack(records)) end
if renewed[1] then
  call('HDEL', history, unpack(renewed))
  call('ZREM', buried, unpack(renewed))
end
if over[1] then
  --@include lease
  --@include ends
  --@include forget_calls
  end_leases(over)
  forget_calls(proofs)
  call('HINCRBY', meta, 'timed_out', #over)
end
if replaced > 0 then call('HINCRBY', meta, 'replaced', replaced) end
--@include wake
wake(soonest)
return 'OK'
