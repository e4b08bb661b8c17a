-- touch.lua: leases start anew. One call renews everything a worker holds.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2…] per slot: slot · number of jobs · token and TTR (ms) of each
-- Returns {"OK", deadline, …} one per token in order, 0 where the job is not ours any more
-- Cost    O(T) for T tokens
--@include clock
--@include keys
--@include lease
local reply, at, shortest = { 'OK' }, 2, nil
while ARGV[at] do
  local slot, count, ttrs, deadlines = ARGV[at], tonumber(ARGV[at + 1]), {}, {}
  for n = 0, count - 1 do ttrs[tonumber(ARGV[at + 2 + 2 * n])] = tonumber(ARGV[at + 3 + 2 * n]) end
  local record, changed = call('HGET', ledger, '@' .. slot), false
  local entries = entries_of(record)
  for _, entry in ipairs(entries) do
    local ttr = ttrs[entry.token]
    if ttr and call('HEXISTS', jobs, entry.id) == 1 then -- a stray is found out by who reads its record, not here
      entry.deadline, changed = now + ttr, true
      deadlines[entry.token] = int(entry.deadline)
      if not shortest or ttr < shortest then shortest = ttr end
    end
  end
  if changed then
    --@include unlock
    store_slot(slot, record, entries)
  end
  for n = 0, count - 1 do reply[#reply + 1] = deadlines[tonumber(ARGV[at + 2 + 2 * n])] or '0' end
  at = at + 2 + 2 * count
end
if shortest and shortest < 2000 then -- an idle consumer may not look again before this lease ends
  --@include wake
  wake(now + shortest)
end
return reply
