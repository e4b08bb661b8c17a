-- lib/promote.lua: brings `prioritized_ready` up to now: jobs that fell due go in, at most 500 and 4 MiB of them; jobs that are not due any
-- more, because the clock was set back, go out. Returns true when more may be to do: the order is exact only when nothing is. For a script that
-- `only_looks` the order is that of the last writer where it may not write.
--@include may_write
local function promote(only_looks)
  local ready, due_now = call('ZCARD', prioritized_ready), call('ZCOUNT', prioritized, '-inf', int(now))
  if ready == due_now or only_looks and not may_write() then return false end
  local changed, bytes = 0, 0
  if ready > due_now then
    local early = call('ZRANGE', prioritized, math.max(due_now, ready - 500), ready - 1, 'WITHSCORES')
    for n = 1, #early, 2 do
      changed = changed + call('ZREM', prioritized_ready, ready_member(early[n + 1] + 0, early[n]))
    end
    return changed == 500
  end
  local due = due_now > ready and call('ZRANGE', prioritized, ready, math.min(due_now, ready + 500) - 1, 'WITHSCORES') or {}
  if due[1] then
    --@include check_types
    --@include allow_when_full
  end
  for n = 1, #due, 2 do
    local record = call('HGET', jobs, due[n])
    changed = changed + 1
    if record then
      local _, _, priority = options(record)
      bytes = bytes + #record
      -- Priority 0: reserve meets a record that cannot be read first, and buries its job.
      call('ZADD', prioritized_ready, int(priority or 0), ready_member(due[n + 1] + 0, due[n]))
    else
      call('ZREM', prioritized, due[n])
    end
    if bytes > 4194304 then return true end
  end
  return changed == 500
end
