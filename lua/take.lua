-- take.lua: the classic consumer: jobs that fell due by a moment, by due time, whatever their priority and group, deleted as they are taken.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] '@' and the latest due time, or '' for now   ARGV[3] most jobs, at most 500   ARGV[4] most bytes
-- Returns {"OK", 1 if more may be due, record, …} | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(J log N) for J jobs
--@include clock
--@include due_at
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
--@include pause_end
--@include remove
--@include discard
--@include expire
--@include check_types
--@include check_group_types
if reclaim() then return { 'AGAIN' } end
if pause_end() then return { 'OK', 0 } end
local latest = ARGV[2] == '' and now or due_at(ARGV[2])
local function due_jobs(most)
  local found = {}
  for _, key in ipairs({ waiting, prioritized, grouped }) do
    local some = call('ZRANGEBYSCORE', key, '-inf', int(latest), 'WITHSCORES', 'LIMIT', 0, most)
    for n = 1, #some, 2 do found[#found + 1] = { some[n], some[n + 1] + 0, key } end
  end
  table.sort(found, function(a, b) return a[2] < b[2] or a[2] == b[2] and a[1] < b[1] end)
  return found
end
local found, ids, reply, bytes, looked, late = due_jobs(ARGV[3]), {}, { 'OK', 0 }, 0, 0, 0
local function is_ended(id, record, due, where)
  return has_traits(string.byte(record)) and expire(id, record, due, where)
end
for n = 1, math.min(#found, ARGV[3] + 0) do
  local id, due, where = found[n][1], found[n][2], found[n][3]
  local record = call('HGET', jobs, id)
  bytes = bytes + (record and #record or 0)
  if n > 1 and bytes > ARGV[4] + 0 then break end
  looked = n
  if record and not options(record) then
    discard(id, record, due, where)
  elseif record and is_ended(id, record, due, where) then
    late = late + 1
  else
    ids[#ids + 1] = id
    if record then reply[#reply + 1] = record end
  end
end
if late > 0 and not ids[1] then
  -- Ends the next of them, too, so that many do not cost a call each.
  for n, job in ipairs(due_jobs(500 - late)) do
    local record = n <= 500 - late and bytes < 4000000 and call('HGET', jobs, job[1])
    if not (record and options(record) and is_ended(job[1], record, job[2], job[3])) then break end
    bytes = bytes + #record
  end
  return { 'AGAIN' }
end
if #found > looked or #found == ARGV[3] + 0 then reply[2] = 1 end
if ids[1] then remove(ids) end
if #reply > 2 then call('HINCRBY', meta, 'acked', #reply - 2) end
return reply
