-- lib/discard.lua: a member that reserve cannot hand out. Without a record, or when its record lies elsewhere too, it
-- means nothing and is dropped; otherwise the record is damaged or newer than we are: set aside with that reason.
local function discard(id, member, ready_member, record)
  if ready_member then
    call('ZREM', ready, ready_member)
  else
    call('ZREM', waiting, member)
  end
  if not record then return end
  local reason = 'corrupt record'
  if #record >= 7 then
    local kind = string.byte(record, 7) % 8
    if kind >= 4 then reason = 'unknown record format' end
    local head = string.sub(record, 1, 6) .. string.char(string.byte(record, 7) - kind % 2)
    local aged = string.sub(record, 1, 6) .. string.char(string.byte(record, 7) - kind % 2 + 1)
    if call('ZSCORE', waiting, head .. id) or call('ZSCORE', waiting, aged .. id) then return end
  end
  local h = read_history(id)
  set_aside(id, h, reason)
end
