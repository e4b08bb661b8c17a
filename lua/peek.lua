-- peek.lua: look at one job without holding it.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] id
-- Returns {"JOB", state, id, record, history, due, deadline} history and deadline: '' where there is none; due of a buried job: since when.
--         Of a job that waits four more, where the user may know, as of lib/waits_for.lua: for what · until when or '' · how many come before it
--         or '' · id or ''
--       | {"MISSING"} | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log N)
--@include clock
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
--@include waits_for
if reclaim(true) then return { 'AGAIN' } end
local id = ARGV[2]
local record, past, due, where = call('HGET', jobs, id), call('HGET', history, id) or '', waits(id)
if not record then return { 'MISSING' } end
if due then
  -- Who may not read groups and limits, as a producer, sees the job without that.
  local may_tell, word, moment, ahead, first = pcall(waits_for, id, due, where, record)
  local reply = { 'JOB', due <= now and 'ready' or 'delayed', id, record, past, int(due), '' }
  if may_tell then reply[8], reply[9], reply[10], reply[11] = word, moment, ahead, first end
  return reply
end
local deadline = call('ZSCORE', reserved, id)
if deadline then
  due = read_lease(call('HGET', leases, id))
  return { 'JOB', 'reserved', id, record, past, int(due), int(deadline) }
end
local since = call('ZSCORE', buried, id)
if since then return { 'JOB', 'buried', id, record, past, int(since), '' } end
return { 'MISSING' }
