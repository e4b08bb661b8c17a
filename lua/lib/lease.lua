-- lib/lease.lua: lease slots. A slot holds the jobs of one reserve call; `reserved` has it under a time not after its earliest
-- deadline, `ledger` has its record: call number 4 · flags 1 · count 2 · then, where all have one deadline and tokens that count
-- up, deadline 6 · first token 6 · the ids, a zero byte behind each; else count is 0 and each has token 6 · deadline 6 · id
-- length 1 · id. Flags: 1 some have a history; 2 leased unseen: stamps follow, 7 bytes each, in the first form all behind the last
-- id, in the second one behind each. Never both: what is leased unseen has no history, and what gets one has left its slot.
--@include head
local function entries_of(record)
  local entries, at = {}, 8
  if not record or #record < 7 then return entries end
  local flags, count = struct.unpack('>BI2', record, 5)
  local is_unseen = flags >= 2
  if count > 0 and #record >= 19 then
    local deadline, token = struct.unpack('>I6I6', record, 8)
    local last = is_unseen and #record - 7 * count or #record
    at = 20
    for n = 1, count do
      local stop = n < count and string.find(record, '\0', at, true) or last
      if at > stop or stop > last then break end -- it has fewer than it says: none of ours
      entries[n] = { token = token + n - 1, deadline = deadline, id = string.sub(record, at, stop - 1) }
      if is_unseen then entries[n].stamp = string.sub(record, last + 7 * n - 6, last + 7 * n) end
      at = stop + 1
    end
  elseif count == 0 then
    while at + 12 <= #record do
      local token, deadline, length = struct.unpack('>I6I6B', record, at)
      local entry = { token = token, deadline = deadline, id = string.sub(record, at + 13, at + 12 + length) }
      at = at + 13 + length
      if is_unseen then entry.stamp, at = string.sub(record, at, at + 6), at + 7 end
      entries[#entries + 1] = entry
    end
  end
  return entries
end
-- The record of the leased job. What was leased unseen may never have had one, or it is that of a newer job of the same id. The
-- flags of a stamp do not count: a new priority may have given the record options.
local function record_of(entry)
  local record = call('HGET', jobs, entry.id)
  if not record or not entry.stamp then return record end
  if #record < 7 or #entry.stamp < 7 then return false end
  local born, last = struct.unpack('>I6B', record)
  local of_born, of_last = struct.unpack('>I6B', entry.stamp)
  return born == of_born and last - last % 8 == of_last - of_last % 8 and record
end
local function find_lease(slot, token)
  local record = call('HGET', ledger, '@' .. slot)
  for _, entry in ipairs(entries_of(record)) do
    if entry.token == token then return entry, record end
  end
end
-- The bytes of a slot with these entries behind the first five, and its earliest deadline.
local function slot_of(head, entries)
  local first, uniform, ids, stamps, parts = entries[1].deadline, true, {}, {}, {}
  for n, entry in ipairs(entries) do
    uniform = uniform and entry.deadline == entries[1].deadline and entry.token == entries[1].token + n - 1
    uniform = uniform and not string.find(entry.id, '\0', 1, true) -- no id of ours
    if entry.deadline < first then first = entry.deadline end
    ids[n], stamps[n] = entry.id, entry.stamp
  end
  if uniform then
    local ends = struct.pack('>I2I6I6', #entries, first, entries[1].token)
    return head .. ends .. table.concat(ids, '\0') .. '\0' .. table.concat(stamps), first
  end
  for n, entry in ipairs(entries) do
    parts[n] = struct.pack('>I6I6B', entry.token, entry.deadline, #entry.id) .. entry.id .. (entry.stamp or '')
  end
  return head .. '\0\0' .. table.concat(parts), first
end
-- Writes a slot back without one of its leases or with changed ones, or removes it when nothing is left in it.
local function store_slot(slot, record, entries, except)
  local kept = {}
  for _, entry in ipairs(entries) do
    if not except or entry.token ~= except.token then kept[#kept + 1] = entry end
  end
  if kept[1] then
    local bytes, first = slot_of(string.sub(record, 1, 5), kept)
    call('HSET', ledger, '@' .. slot, bytes)
    call('ZADD', reserved, int(first), slot)
    ends_at(first)
  else
    call('HDEL', ledger, '@' .. slot)
    call('ZREM', reserved, slot)
  end
end
-- Ends one lease.
local function end_lease(slot, entry)
  local record = call('HGET', ledger, '@' .. slot)
  store_slot(slot, record, entries_of(record), entry)
end
