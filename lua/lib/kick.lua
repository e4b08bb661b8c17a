-- lib/kick.lua: one buried job becomes ready now. A job whose record is gone or unreadable cannot.
local function kick(id, reset_attempts)
  local record = call('HGET', jobs, id)
  local h = read_history(id)
  call('ZREM', reserved, '') -- see lib/unlock.lua
  if not record then
    call('ZREM', buried, id)
    call('HDEL', history, id)
    return false
  end
  if not options(record) then return false end
  h.kicks, h.due = h.kicks + 1, now
  if reset_attempts then h.attempts = 0 end
  place(id, record, now, true)
  write_history(id, h)
  call('ZREM', buried, id)
  return true
end
