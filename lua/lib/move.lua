-- lib/move.lua: a new time for a job that nobody holds, whose record can be read.
--@include wake
-- `old_due`, `where`: as waits() says; nil of a buried job.
local function move(id, record, due, old_due, where)
  local _, _, priority = options(record)
  local is_opened = place(id, priority, due, group_of(record), old_due, where, record)
  if due < now or call('HEXISTS', history, id) == 1 then
    local past = read_history(id)
    past.first_due = math.max(due, now) -- it waits from then on
    write_history(id, record, past)
  end
  if not old_due then call('ZREM', buried, id) end
  wake(is_opened and math.min(due, now) or due)
end
