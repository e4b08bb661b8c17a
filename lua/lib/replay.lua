-- lib/replay.lua: the answer of a reserve whose first try was applied: the jobs that still lie in its slot.
--@include lease
local function replay(record)
  local tokens, ids, records, deadlines, pasts = {}, {}, {}, {}, {}
  for _, entry in ipairs(entries_of(record)) do
    local job = call('HGET', jobs, entry.id)
    if job then
      local n = #ids + 1
      tokens[n], ids[n], records[n], deadlines[n] = entry.token, entry.id, job, entry.deadline
      pasts[n] = call('HGET', history, entry.id) or ''
    end
  end
  return { 'JOBS', now, {}, tokens, deadlines, ids, records, pasts }
end
