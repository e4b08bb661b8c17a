-- lib/move.lua: a waiting job gets another due time, or its first history: the new place first, then the old one goes.
local function move(id, record, old_due, due, had_history, has_history)
  local _, _, priority = options(record)
  if priority == 1024 then
    place(id, record, due, has_history)
    if had_history ~= has_history then call('ZREM', waiting, stamp(record, had_history) .. id) end
    return
  end
  local old = ranked_member(record, had_history, priority, id)
  local new = ranked_member(record, has_history, priority, id)
  local was_later = call('ZSCORE', later, old)
  place(id, record, due, has_history)
  if was_later then
    if old ~= new or due <= now then call('ZREM', later, old) end
    return
  end
  if due > now or ready_member(old_due, old) ~= ready_member(due, new) then call('ZREM', ready, ready_member(old_due, old)) end
  if due > now or old ~= new then call('ZREM', ripe, old) end
end
