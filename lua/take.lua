-- take.lua: the classic consumer: due jobs by due time, whatever their priority, deleted as they are taken.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] latest due time (ms), or '' for now   ARGV[3] how many, at most 500
-- Returns {"OK", record, …} | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(J log N)
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include lease
--@include reclaim
--@include probe
if reclaim() then return { 'AGAIN' } end
local paused = call('HGET', ledger, 'paused')
if paused and (paused == 'forever' or paused + 0 > now) then return { 'OK' } end
local latest = ARGV[2] ~= '' and ARGV[2] or int(now)
local found = {} -- {due, id, member, key}
for _, key in ipairs({ waiting, later, ripe }) do
  local list = call('ZRANGEBYSCORE', key, '-inf', latest, 'WITHSCORES', 'LIMIT', 0, ARGV[3])
  for n = 1, #list, 2 do
    local id = string.sub(list[n], key == waiting and 8 or 12)
    found[#found + 1] = { due = list[n + 1] + 0, id = id, member = list[n], key = key }
  end
end
table.sort(found, function(a, b)
  if a.due ~= b.due then return a.due < b.due end
  return a.member < b.member
end)
local reply, taken = { 'OK' }, 0
for n = 1, math.min(#found, ARGV[3] + 0) do
  local job = found[n]
  local record = call('HGET', jobs, job.id)
  if record and options(record) and string.sub(record, 1, 6) == string.sub(job.member, 1, 6) then
    reply[#reply + 1], taken = record, taken + 1
    call('HDEL', jobs, job.id)
    call('HDEL', history, job.id)
  end
  if job.key == ripe then call('ZREM', ready, ready_member(job.due, job.member)) end
  call('ZREM', job.key, job.member)
end
if taken > 0 then call('HINCRBY', ledger, 'acked', taken) end
return reply
