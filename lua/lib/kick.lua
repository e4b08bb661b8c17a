-- lib/kick.lua: one buried or delayed job becomes ready now. False when it is neither, or its record cannot be read.
local function kick(id, reset_attempts)
  local record = call('HGET', jobs, id)
  local _, _, priority = options(record or '')
  local old_due, was_prioritized = waits(id)
  local is_buried = not old_due and call('ZSCORE', buried, id)
  if not priority or not is_buried and not (old_due and old_due > now) then return false end
  --@include allow_when_full
  local past = read_history(id)
  past.kicks, past.first_due = past.kicks + 1, now
  if reset_attempts then past.attempts, past.timeouts = 0, 0 end
  place(id, priority, now, old_due, was_prioritized)
  write_history(id, record, past)
  if is_buried then call('ZREM', buried, id) end
  return true
end
