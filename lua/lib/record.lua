-- lib/record.lua: reads and changes job records (layout in lua/README.md).
--@include options
local HAS_OPTIONS, HAS_HISTORY, HAS_TRAITS, IS_NEWER = 1, 2, 4, 64
-- The traits that must be understood, and are, with the lengths of their values: E expires, U retry until, G group, of any length but 0.
local UNDERSTOOD = { E = 10, U = 9, G = 0 }

local function has_history(flags) return flags % (2 * HAS_HISTORY) >= HAS_HISTORY end
local function has_traits(flags) return flags % (2 * HAS_TRAITS) >= HAS_TRAITS end
-- Where the traits end. Nil, and true where they have a kind that this version does not know but must: the record cannot be read.
local function traits_end(record, at)
  if not has_traits(string.byte(record)) then return at end
  if #record < at + 2 then return nil end
  local last = at + 2 + struct.unpack('>I2', record, at + 1)
  if last > #record then return nil end
  at = at + 2
  while at + 2 <= last do
    local kind, length = string.byte(record, at + 1, at + 2)
    if kind < 97 or kind > 122 then
      local wanted = UNDERSTOOD[string.char(kind)]
      if wanted ~= length and (wanted ~= 0 or length > 200) or length == 0 then return nil, true end
    end
    at = at + 2 + length
  end
  return at == last and last or nil
end
-- Where the payload begins; or nil and why the record cannot be read.
local function payload_at(record)
  local flags = string.byte(record) or 0
  if flags >= IS_NEWER then return nil, 'unknown record format' end
  local last, is_newer = #record >= 7 and read_options(record), false
  if last then last, is_newer = traits_end(record, last) end
  if not last then return nil, is_newer and 'unknown record format' or 'corrupt record' end
  return last + 1
end
-- Where the value of a trait begins in a record that can be read; or nil.
local function trait_at(record, kind)
  local at = read_options(record)
  local last = traits_end(record, at)
  at = at + 2
  while at < last do
    if string.sub(record, at + 1, at + 1) == kind then return at + 3 end
    at = at + 2 + string.byte(record, at + 2)
  end
end
-- The group of a job whose record can be read, or nil.
local function group_of(record)
  local at = has_traits(string.byte(record) or 0) and payload_at(record) and trait_at(record, 'G')
  return at and string.sub(record, at, at + string.byte(record, at - 1) - 1) or nil
end
-- ttr_ms, max_attempts, priority; nil when the record is damaged or of a newer format.
local function options(record)
  if payload_at(record) then return select(2, read_options(record)) end
end
local function with_history(record)
  local flags = string.byte(record)
  return has_history(flags) and record or string.char(flags + HAS_HISTORY) .. string.sub(record, 2)
end
local function with_priority(record, priority)
  local flags = string.byte(record)
  local last, ttr_ms, max_attempts = read_options(record)
  if last > 7 then return string.sub(record, 1, 17) .. struct.pack('>I4', priority) .. string.sub(record, 22) end
  return string.char(flags + HAS_OPTIONS) .. string.sub(record, 2, 7)
    .. struct.pack('>I2I4I4I4', 12, ttr_ms, max_attempts, priority) .. string.sub(record, 8)
end
