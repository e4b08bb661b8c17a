-- lib/call_of.lua: a reserve as `leases` remembers it under a newline and the consumer's name: its number and its jobs, a line each. The last line
-- makes it longer than 64 bytes: then Redis finds leases by hash, and not by looking through all of up to 512.
local function call_of(number, ids)
  return number .. '\n' .. table.concat(ids, '\n') .. '\n                                                                '
end
