-- lib/examine.lua: a job that reserve.lua has picked, whose record has traits or cannot be read. `ttr_ms` becomes nil where the job has ended, or the
-- entry means nothing.
local job = of and of[id]
if flags == 4 and job and string.sub(record, 8, 11 + #job[4].group) == job[4].traits then
  ttr_ms, max_attempts = DEFAULT_TTR_MS, DEFAULT_MAX_ATTEMPTS -- of its group, and with nothing else to read
else
  if not rare.options then rarely('late') end
  ttr_ms, max_attempts = rare.options(record or '')
  if job and ttr_ms and rare.group_of(record) ~= job[4].group then
    call('ZREM', groups, job[3]) -- an entry in the book of another group means nothing
    ttr_ms = nil
  elseif not ttr_ms then
    if job and not call('ZSCORE', grouped, id) then record = nil end -- it lies elsewhere
    rare.discard(id, record, due + 0, job and grouped)
    if job then call('ZREM', groups, job[3]) end
  elseif rare.may_be_late(record) and rare.expire(id, record, due + 0, job and grouped or not is_prioritized and waiting) then
    late, late_bytes, ttr_ms = late + 1, late_bytes + #record, nil
    is_full = late_bytes > 4000000
  end
  has_dropped = has_dropped or not ttr_ms
end
