-- lib/place.lua: where waiting jobs are, delayed and ready alike. Default priority: `waiting`. Any other: `prioritized`; the first of
-- them, as many as `prioritized_ready` has, are in that too, by priority and due time.
-- Eight bytes hold more numbers than a double does: a time that another program has put there need not survive.
local function ready_member(due, id) return struct.pack('>I8', math.min(math.max(due, 0), 9007199254740991)) .. id end

-- The due time of a waiting job, and true if it is in `prioritized`; or nil.
local function waits(id)
  local due = call('ZSCORE', waiting, id)
  if due then return due + 0, false end
  due = call('ZSCORE', prioritized, id)
  if due then return due + 0, true end
end
-- Puts a job where it waits from now on. `old_due`: it waits already, since then in `prioritized` if `was_prioritized`.
local function place(id, priority, due, old_due, was_prioritized)
  if was_prioritized then call('ZREM', prioritized_ready, ready_member(old_due, id)) end
  if priority == DEFAULT_PRIORITY then
    call('ZADD', waiting, int(due), id)
    if was_prioritized then call('ZREM', prioritized, id) end
    return
  end
  call('ZADD', prioritized, int(due), id)
  if call('ZRANK', prioritized, id) < call('ZCARD', prioritized_ready) then
    call('ZADD', prioritized_ready, int(priority), ready_member(due, id))
  end
  if old_due and not was_prioritized then call('ZREM', waiting, id) end
end
local function unplace(id, due, is_prioritized)
  if not is_prioritized then
    call('ZREM', waiting, id)
    return
  end
  call('ZREM', prioritized_ready, ready_member(due, id))
  call('ZREM', prioritized, id)
end
