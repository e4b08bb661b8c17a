-- lib/replay.lua: the answer of a reserve whose first try was applied: the jobs that still lie in its slot; nil when none does.
--@include answer
local function replay(leases)
  local records, pasts, is_any = {}, {}, false
  for n, entry in ipairs(entries_of(leases)) do
    records[n] = record_of(entry) -- false where the job is gone
    pasts[n] = records[n] and call('HGET', history, entry.id) or ''
    is_any = is_any or records[n]
  end
  return is_any and answer(leases, records, pasts, {})
end
