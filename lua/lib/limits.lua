-- lib/limits.lua: what may be served of a group, of the others, and of the queue ('\n'), as texts "concurrency interval burst weight ordered rate";
-- behind it an exclamation mark while limits of all others are being changed.
local NO_LIMITS = { interval = 0, burst = 1, weight = 1, ordered = false }
local limits_read = {}
-- A whole number; or nil, also of what another program has put there, which may neither close a group for ever nor send a reserve in circles.
local function count_of(text)
  local number = tonumber(text)
  return number and number >= 1 and number < 9007199254740992 and math.floor(number) or nil
end
local function read_limits(text)
  if not text then return NO_LIMITS end
  if not limits_read[text] then
    local concurrency, interval, burst, weight, ordered = string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+)')
    limits_read[text] = {
      concurrency = count_of(concurrency), interval = count_of(interval) or 0, burst = count_of(burst) or 1,
      weight = count_of(weight) or 1, ordered = ordered == '1', is_new = string.byte(text, -1) == 33,
    }
  end
  return limits_read[text]
end
-- Until when tokens are spent: not for longer than limits allow that have been changed, or by a clock that was set back.
local function spent_of(own, moment)
  return own.interval > 0 and math.min(tonumber(moment) or 0, now + own.burst * own.interval) or 0
end
