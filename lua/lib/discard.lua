-- lib/discard.lua: a member that reserve cannot hand out. Without a record, or when its record has its place elsewhere,
-- it means nothing and is dropped; otherwise the record is damaged or newer than we are: set aside with that reason.
local function has_another_place(id, member, record)
  local last = string.byte(record, 7)
  if not last or string.sub(record, 1, 6) == string.sub(member, 1, 6)
    and math.floor(last / 8) == math.floor(string.byte(member, 7) / 8) then return false end
  for _, aged in ipairs({ false, true }) do
    if call('ZSCORE', waiting, string.sub(record, 1, 6) .. string.char(last - last % 2 + (aged and 1 or 0)) .. id) then
      return true
    end
    if ripe and options(record) and waits(id, record, aged) then return true end
  end
  local rank, is_held = 0, false
  while rank and rank < 1000 and not is_held do
    rank = held({ [id] = true }, rank, function() is_held = true end)
  end
  return is_held or rank ~= nil
end
local function discard(id, member, ready_member, record)
  if record and not call('ZSCORE', buried, id) and not has_another_place(id, member, record) then
    local last = string.byte(record, 7)
    set_aside(id, read_history(id), flag(last, UNKNOWN) and 'unknown record format' or 'corrupt record')
  end
  if not ready_member then
    call('ZREM', waiting, member)
    return
  end
  local priority = call('ZSCORE', ready, ready_member)
  call('ZREM', ready, ready_member)
  if priority then call('ZREM', ripe, string.sub(member, 1, 7) .. struct.pack('>I4', priority) .. id) end
end
