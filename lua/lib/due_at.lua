-- lib/due_at.lua: a due time as clients write it: a delay, or '@' and a moment. The jobs of a batch follow each other by a microsecond.
local function due_at(text, after)
  local delay = tonumber(text)
  return delay and now + delay + (after or 0) or string.sub(text, 2) + 0
end
