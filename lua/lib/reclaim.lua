-- lib/reclaim.lua: lazy lease expiry. Takes back up to 100 jobs whose lease ran out: to their old place, or buried
-- when no attempt is left. Returns true when more are left: the caller answers AGAIN.
local function reclaim()
  local left, timed_out = 100, 0
  while left > 0 do
    local slot = call('ZRANGEBYSCORE', reserved, '-inf', int(now), 'LIMIT', 0, 1)[1]
    if not slot then break end
    if left == 100 then
      --@include probe
      --@include unlock
    end
    local record = call('HGET', ledger, '@' .. slot)
    local kept = record and string.sub(record, 1, 4) or ''
    for entry in each_entry(record) do
      local raw = string.sub(record, entry.at, entry.after - 1)
      if entry.deadline > now or left == 0 then
        kept = kept .. raw
      else
        left = left - 1
        local job = call('HGET', jobs, entry.id)
        if job then
          local h = read_history(entry.id)
          local _, max_attempts = options(job)
          h.attempts, h.timeouts, h.due = entry.attempts, h.timeouts + 1, entry.due
          timed_out = timed_out + 1
          if max_attempts and max_attempts > 0 and entry.attempts >= max_attempts then
            set_aside(entry.id, h, 'lease expired')
          else
            h.error = 'lease expired'
            place(entry.id, job, entry.due, true)
            write_history(entry.id, h)
          end
        end
      end
    end
    store_slot(slot, kept)
  end
  if timed_out > 0 then call('HINCRBY', ledger, 'timed_out', timed_out) end
  return left == 0 and call('ZRANGEBYSCORE', reserved, '-inf', int(now), 'LIMIT', 0, 1)[1] ~= nil
end
