-- lib/record.lua: reads job records (layout in lua/README.md).
--@include due
local OPTIONS, UNKNOWN = 2, 4
local function flag(byte, bit) return byte and byte % (bit * 2) >= bit end

-- ttr_ms, max_attempts, priority; nil when the record is none of ours.
local function options(record)
  local last, at = string.byte(record, 7), body_at(record)
  if not last or #record < at - 1 or flag(last, UNKNOWN) then return nil end
  if not flag(last, OPTIONS) then return 60000, 10, 1024 end
  if #record < at + 27 then return nil end
  return struct.unpack('>I4I4I4', record, at + 2)
end

-- The stamp a waiting member begins with: the record's own, with the bit that says "has history".
local function stamp(record, has_history)
  local head = string.sub(record, 1, 7)
  if not has_history then return head end
  return string.sub(head, 1, 6) .. string.char(string.byte(head, 7) + 1)
end

-- When it is, or was, due (ms). The record knows the first time; the history every later one.
local function due_of(record, h, packed)
  if packed then return h.due end
  return unpack_due(record)
end
-- The record with another due time.
local function due_at(record, due)
  return string.sub(record, 1, 7) .. pack_due(struct.unpack('>I6', record), due) .. string.sub(record, body_at(record))
end
