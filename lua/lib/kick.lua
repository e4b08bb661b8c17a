-- lib/kick.lua: one buried or delayed job becomes ready now. False when it is neither, or its record cannot be read.
-- The first of an ordered group keeps its place.
local function hurry(id, due, record)
  if not call('ZSCORE', groups, first_as(group_of(record) or '', due, id)) then return false end
  enter(group_of(record), id, now, first_as(group_of(record), now, id))
  call('ZREM', groups, first_as(group_of(record), due, id))
  return true
end
local function kick(id, reset_attempts)
  local record = call('HGET', jobs, id)
  local _, _, priority = options(record or '')
  local old_due, where = waits(id)
  local is_buried = not old_due and call('ZSCORE', buried, id)
  if not priority or not is_buried and not (old_due and old_due > now) then return false end
  --@include allow_when_full
  local past = read_history(id)
  past.kicks, past.first_due = past.kicks + 1, now
  if reset_attempts then past.attempts, past.timeouts = 0, 0 end
  if where ~= grouped or not hurry(id, old_due, record) then
    place(id, priority, now, group_of(record), old_due, where, record)
  end
  write_history(id, record, past)
  if is_buried then call('ZREM', buried, id) end
  return true
end
