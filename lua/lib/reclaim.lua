-- lib/reclaim.lua: lazy lease expiry. Takes back up to 100 jobs whose lease ran out: to their old place, or buried
-- when no attempt is left. What was leased unseen and is not the job of that id only goes. Returns true when more are left: the
-- caller answers AGAIN.
local function reclaim()
  local left, timed_out = 100, 0
  while left > 0 do
    local slot = call('ZRANGEBYSCORE', reserved, '-inf', int(now), 'LIMIT', 0, 1)[1]
    if not slot then break end
    if left == 100 then
      --@include probe
      --@include unlock
    end
    local record, kept = call('HGET', ledger, '@' .. slot), {}
    for _, entry in ipairs(entries_of(record)) do
      if entry.deadline > now or left == 0 then
        kept[#kept + 1] = entry
      else
        left = left - 1
        local job = record_of(entry)
        if job then
          local h, packed = read_history(entry.id)
          local _, max_attempts = options(job)
          h.attempts, h.timeouts, h.due = h.attempts + 1, h.timeouts + 1, due_of(job, h, packed)
          timed_out = timed_out + 1
          if max_attempts and max_attempts > 0 and h.attempts >= max_attempts then
            set_aside(entry.id, h, 'lease expired')
          else
            h.error = 'lease expired'
            place(entry.id, job, h.due, true)
            write_history(entry.id, h)
          end
        end
      end
    end
    store_slot(slot, record, kept)
  end
  if timed_out > 0 then call('HINCRBY', ledger, 'timed_out', timed_out) end
  return left == 0 and call('ZRANGEBYSCORE', reserved, '-inf', int(now), 'LIMIT', 0, 1)[1] ~= nil
end
