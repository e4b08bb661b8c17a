-- peek.lua: look at one job without holding it.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] id
-- Returns {"JOB", state, id, record, history, due, deadline} history and deadline: '' where there is none; due of a buried job: since when
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
if reclaim(true) then return { 'AGAIN' } end
local id = ARGV[2]
local due, record, past = waits(id), call('HGET', jobs, id), call('HGET', history, id) or ''
if not record then return { 'MISSING' } end
if due then return { 'JOB', due <= now and 'ready' or 'delayed', id, record, past, int(due), '' } end
local deadline = call('ZSCORE', reserved, id)
if deadline then
  due = read_lease(call('HGET', leases, id))
  return { 'JOB', 'reserved', id, record, past, int(due), int(deadline) }
end
local since = call('ZSCORE', buried, id)
if since then return { 'JOB', 'buried', id, record, past, int(since), '' } end
return { 'MISSING' }
