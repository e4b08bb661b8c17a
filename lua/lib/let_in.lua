-- lib/let_in.lua: jobs of these groups are held no longer: those that are limited, and have more, stand in line again. True: one may be served now, or sooner than waiters know.
--@include limits
local function let_in(names)
  local found, places, is_ready = call('HMGET', limits, '', unpack(names)), {}, false
  for n, group in ipairs(names) do
    local own = read_limits(found[n + 1] or found[1])
    if own.concurrency or own.is_new then
      local first, at = call('ZRANGEBYLEX', groups, '[' .. group .. '\nr', '(' .. group .. '\nx', 'LIMIT', 0, 1)[1], now - #names + n -- in the order of their jobs
      if first then
        local is_first = string.byte(first, #group + 2) == 114 and #first > #group + 10
        if own.ordered and is_first then at = math.max(now, (struct.unpack('>I8', first, #group + 3))) end
        places[#places + 1], places[#places + 2] = int(at), group
        is_ready = is_ready or at <= now
      end
    end
  end
  if places[1] and call('ZADD', line, 'LT', 'CH', unpack(places)) > 0 then is_ready = true end
  return is_ready
end
