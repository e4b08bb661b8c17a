-- lib/place.lua: where waiting jobs lie. Default priority: `waiting`, delayed and ready alike. Any other:
-- `later` until due, then `ready` (by priority) together with `ripe` (the same jobs by due time).
--@include head
local function ranked_member(record, has_history, priority, id)
  return stamp(record, has_history) .. struct.pack('>I4', priority) .. id
end
local function ready_member(due, member)
  return struct.pack('>I6', due) .. string.sub(member, 1, 7) .. string.sub(member, 12)
end

-- Puts a job among the waiting ones; due is a number.
local function place(id, record, due, has_history)
  local _, _, priority = options(record)
  if not priority or priority == 1024 then
    call('ZADD', waiting, int(due), stamp(record, has_history) .. id)
    return
  end
  local member = ranked_member(record, has_history, priority, id)
  set_kind(1, true)
  if due > now then
    call('ZADD', later, int(due), member)
  else
    call('ZADD', ready, int(priority), ready_member(due, member)) -- first: only this one hands the job out
    call('ZADD', ripe, int(due), member)
  end
end

-- Its due time if the job waits, else nil; with `remove`, takes it out.
local function waits(id, record, has_history, remove)
  local _, _, priority = options(record)
  if not priority or priority == 1024 then
    local member = stamp(record, has_history) .. id
    local due = call('ZSCORE', waiting, member)
    if due and remove then call('ZREM', waiting, member) end
    return due and tonumber(due)
  end
  local member = ranked_member(record, has_history, priority, id)
  local due = call('ZSCORE', later, member)
  if due then
    if remove then call('ZREM', later, member) end
    return tonumber(due)
  end
  due = call('ZSCORE', ripe, member)
  if due and remove then
    call('ZREM', ready, ready_member(tonumber(due), member))
    call('ZREM', ripe, member)
  end
  return due and tonumber(due)
end
