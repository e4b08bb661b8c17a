-- lib/lease.lua: lease slots. A slot holds the jobs of one reserve call, each with its own token and deadline;
-- `reserved` has the slot under its earliest deadline, `ledger` has its record: call number, then entries.
local ENTRY = 24 -- token 6 · attempts 4 · due 6 · deadline 6 · flags 1 · id length 1 · then the id

local function entry_at(record, at)
  local attempts, due, deadline, flags, length = struct.unpack('>I4I6I6BB', record, at + 6)
  return {
    token = string.sub(record, at, at + 5), attempts = attempts, due = due, deadline = deadline,
    has_history = flags == 1, id = string.sub(record, at + ENTRY, at + ENTRY + length - 1),
    at = at, after = at + ENTRY + length,
  }
end
local function each_entry(record)
  local at = 5
  return function()
    if not record or at + ENTRY > #record then return nil end
    local entry = entry_at(record, at)
    at = entry.after
    return entry
  end
end
local function find_lease(slot, token)
  local record = call('HGET', ledger, '@' .. slot)
  for entry in each_entry(record) do
    if entry.token == token then return entry, record end
  end
end
-- Writes a slot back, or removes it when nothing is left in it.
local function store_slot(slot, record)
  local first
  for entry in each_entry(record) do
    if not first or entry.deadline < first then first = entry.deadline end
  end
  if first then
    call('HSET', ledger, '@' .. slot, record)
    call('ZADD', reserved, int(first), slot)
  else
    call('HDEL', ledger, '@' .. slot)
    call('ZREM', reserved, slot)
  end
end
local function without(record, entry)
  return string.sub(record, 1, entry.at - 1) .. string.sub(record, entry.after)
end
