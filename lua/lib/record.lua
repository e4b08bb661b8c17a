-- lib/record.lua: reads and changes job records (layout in lua/README.md).
local DEFAULT_TTR_MS, DEFAULT_MAX_ATTEMPTS, DEFAULT_PRIORITY = 60000, 10, 1024
local HAS_OPTIONS, HAS_HISTORY = 1, 2

-- ttr_ms, max_attempts, priority; nil when the record is damaged or of a newer format.
local function options(record)
  if #record < 7 then return nil end
  local flags = string.byte(record)
  if flags > HAS_OPTIONS + HAS_HISTORY then return nil end
  if flags % 2 == 0 then return DEFAULT_TTR_MS, DEFAULT_MAX_ATTEMPTS, DEFAULT_PRIORITY end
  if #record < 21 then return nil end
  local length, ttr_ms, max_attempts, priority = struct.unpack('>I2I4I4I4', record, 8)
  if length < 12 or #record < 9 + length then return nil end
  return ttr_ms, max_attempts, priority
end
-- Where the payload begins. The record is readable.
local function payload_at(record)
  if string.byte(record) % 2 == 0 then return 8 end
  return 10 + struct.unpack('>I2', record, 8)
end
local function with_history(record)
  local flags = string.byte(record)
  return flags < HAS_HISTORY and string.char(flags + HAS_HISTORY) .. string.sub(record, 2) or record
end
local function with_priority(record, priority)
  local flags = string.byte(record)
  if flags % 2 == 1 then return string.sub(record, 1, 17) .. struct.pack('>I4', priority) .. string.sub(record, 22) end
  return string.char(flags + HAS_OPTIONS) .. string.sub(record, 2, 7)
    .. struct.pack('>I2I4I4I4', 12, DEFAULT_TTR_MS, DEFAULT_MAX_ATTEMPTS, priority) .. string.sub(record, 8)
end
