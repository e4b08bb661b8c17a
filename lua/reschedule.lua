-- reschedule.lua: a delayed, ready or buried job gets a new time.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] id   ARGV[3] due: a delay (µs), or '@' and a moment
-- Returns {"OK", due} | {"MISSING"} not there, or held | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log N)
--@include clock
--@include due_at
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
if reclaim() then return { 'AGAIN' } end
local id = ARGV[2]
local record = call('HGET', jobs, id)
local _, _, priority = options(record or '')
local old_due, where = waits(id)
if not priority or not old_due and not call('ZSCORE', buried, id) then return { 'MISSING' } end
--@include check_types
--@include check_group_types
--@include allow_when_full
local due = due_at(ARGV[3])
local is_opened = place(id, priority, due, group_of(record), old_due, where, record)
if due < now or call('HEXISTS', history, id) == 1 then
  local past = read_history(id)
  past.first_due = math.max(due, now) -- it waits from then on
  write_history(id, record, past)
end
if not old_due then call('ZREM', buried, id) end
wake(is_opened and math.min(due, now) or due)
return { 'OK', int(due) }
