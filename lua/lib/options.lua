-- lib/options.lua: the options of a record (layout in lua/README.md) that scripts read: where they end, ttr_ms, max_attempts, priority.
-- Nil: the record is cut off.
local DEFAULT_PRIORITY = 1024
local function read_options(record)
  local ttr_ms, max_attempts, priority = 60000, 10, 1024
  if string.byte(record) % 2 == 0 then return 7, ttr_ms, max_attempts, priority end
  local last, SHORTEST_TTR_MS = #record >= 21 and 9 + struct.unpack('>I2', record, 8), 100 -- a shorter lease would end before its holder hears of it
  if not last or last < 21 or last > #record then return nil end
  ttr_ms, max_attempts, priority = struct.unpack('>I4I4I4', record, 10)
  return last, math.max(ttr_ms, SHORTEST_TTR_MS), max_attempts, priority
end
