-- reschedule.lua: a delayed, ready or buried job gets a new time.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] id   ARGV[3] delay (ms), or ''   ARGV[4] absolute due time (ms), or ''
-- Returns {"OK", due} | {"MISSING"} not there, or held
--       | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log N)
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include lease
--@include reclaim
if reclaim() then return { 'AGAIN' } end
local id = ARGV[2]
local record = call('HGET', jobs, id)
if not record or not options(record) then return { 'MISSING' } end
local h, packed = read_history(id)
local has_history = packed and true or false
local old_due = waits(id, record, has_history)
local is_buried = not old_due and call('ZSCORE', buried, id)
if not old_due and not is_buried then return { 'MISSING' } end
local due = tonumber(ARGV[4]) or due_in(ARGV[3])
--@include probe
--@include unlock
if is_buried then
  place(id, record, due, has_history)
  call('ZREM', buried, id)
else
  --@include move
  move(id, record, old_due, due, has_history, has_history)
end
if packed then
  h.due = due
  write_history(id, h)
else
  call('HSET', jobs, id, due_at(record, due))
end
--@include wake
wake(due)
return { 'OK', int(due) }
