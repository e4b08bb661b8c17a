-- lib/limits.lua: what may be served of a group, of the others, and of the queue ('\n'), as texts "concurrency interval burst weight ordered rate".
local NO_LIMITS = { interval = 0, burst = 1, weight = 1, ordered = false }
local limits_read = {}
local function read_limits(text)
  if not text then return NO_LIMITS end
  if not limits_read[text] then
    local concurrency, interval, burst, weight, ordered = string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+)')
    limits_read[text] = {
      concurrency = tonumber(concurrency), interval = tonumber(interval) or 0, burst = tonumber(burst) or 1,
      weight = tonumber(weight) or 1, ordered = ordered == '1',
    }
  end
  return limits_read[text]
end
