-- lib/cap.lua: the limits of the queue as a whole; nil: it has none. `wanted`: how many jobs may be leased now; where it is none, `closed_until` is when
-- there may be room.
local function cap_of(wanted)
  if not call('HGET', limits, '\n') then return nil end
  learn({ '\n' })
  write_off()
  local own, held, closed_until = own_limits['\n'], own_limits['\n'].concurrency and call('ZCARD', reserved), nil
  wanted = math.min(wanted, tokens_of('\n', own), held and own.concurrency - held or wanted)
  if wanted < 1 then
    closed_until = opens('\n', own, 0)
    if held and held >= own.concurrency then
      closed_until = math.max(closed_until, tonumber(call('ZRANGE', reserved, 0, 0, 'WITHSCORES')[2]) or now)
    end
  end
  return { wanted = wanted, closed_until = closed_until, interval = own.interval, spent_until = math.max(spent_until['\n'] or 0, now) }
end
