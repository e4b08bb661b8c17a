-- lib/clock.lua: the one clock, in microseconds since 1970. ARGV[1] is an offset that only tests set.
local call, try = redis.call, redis.pcall
local time = call('TIME')
local now = time[1] * 1000000 + time[2] + ARGV[1]
local function int(number) return string.format('%d', number) end
-- A due time as clients write it: a delay, or '@' and a moment. The jobs of a batch follow each other by a microsecond.
local function due_at(text, after)
  local delay = tonumber(text)
  return delay and now + delay + (after or 0) or string.sub(text, 2) + 0
end
