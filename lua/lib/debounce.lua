-- lib/debounce.lua: trait `w` of a record: however often the job is replaced, it falls due then. A client sends for how long it may wait (mode 1);
-- the script that stores the job makes the moment of it (mode 0), or keeps that of the job which it replaces.
-- Where the value begins, its mode and its number; or nil.
local function wait_limit(record)
  if (string.byte(record) or 0) % (2 * HAS_TRAITS) < HAS_TRAITS or not payload_at(record) then return nil end
  local at = trait_at(record, 'w')
  if at and string.byte(record, at - 1) == 9 and string.byte(record, at) <= 1 then return at, struct.unpack('>BI8', record, at) end
end
-- The record to store, and the latest due time, if it has one. `old`: the record whose limit stays.
local function debounced(record, old)
  local at, mode, latest = wait_limit(record)
  if mode == 1 then
    local _, old_mode, old_latest = wait_limit(old or '')
    latest = old_mode == 0 and old_latest or now + latest
    record = string.sub(record, 1, at - 1) .. struct.pack('>BI8', 0, latest) .. string.sub(record, at + 9)
  end
  return record, latest
end
