-- lib/asked.lua: what a job was asked for while a consumer held it: the trait h, a moment by which it is to come back.
-- Without the trait whose value begins there.
local function without_trait(record, value_at)
  local at, size = read_options(record), 2 + string.byte(record, value_at - 1)
  local length, rest = struct.unpack('>I2', record, at + 1) - size, string.sub(record, value_at + size - 2)
  if length == 0 then return string.char(string.byte(record) - HAS_TRAITS) .. string.sub(record, 2, at) .. rest end
  return string.sub(record, 1, at) .. struct.pack('>I2', length) .. string.sub(record, at + 3, value_at - 3) .. rest
end
-- The moment by which a job is to come back that somebody has rescheduled while a consumer held it, and the record without it; or nil.
local function asked_for(record)
  local at = has_traits(string.byte(record) or 0) and payload_at(record) and trait_at(record, 'h')
  if at then return struct.unpack('>I8', record, at), without_trait(record, at) end
end
