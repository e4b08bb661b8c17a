-- list.lua: a page of jobs of one state, in their order.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] state   ARGV[3] offset   ARGV[4] limit, at most 200   ARGV[5] most bytes of records
-- ARGV[6] '', or the place of a job behind which the offset counts, three words: priority · due time, deadline or since when (µs) · id
-- Returns {"JOBS", state, looked, full, …} then five per job as of peek.lua: id · record · history · due · deadline; looked at fewer than asked
--         for, and full is 0: it was the last page
--       | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log² N + L)
--@include clock
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
--@include promote
--@include after
--@include merge
if reclaim(true) or ARGV[2] == 'ready' and promote(true) then return { 'AGAIN' } end
local state, offset, limit, bytes = ARGV[2], ARGV[3] + 0, ARGV[4] + 0, ARGV[5] + 0
local reply = { 'JOBS', state, 0, 0 }
local function due_in(key) return call('ZCOUNT', key, '-inf', int(now)) end
local due_waiting, due_grouped = due_in(waiting), due_in(grouped)
local due_now = due_waiting + due_grouped
if ARGV[6] ~= '' then
  offset = offset + count_up_to(state, due_waiting, due_grouped, ARGV[6])
end
local function add(id, due, deadline)
  if bytes <= 0 then
    reply[4] = 1
    return
  end
  reply[3] = reply[3] + 1
  local record = call('HGET', jobs, id)
  if not record then return end
  bytes = bytes - #record
  for _, value in ipairs({ id, record, call('HGET', history, id) or '', int(due), deadline or '' }) do reply[#reply + 1] = value end
end
local function add_all(key, first, last)
  if last < first then return end
  local found = call('ZRANGE', key, int(first), int(last), 'WITHSCORES')
  for n = 1, #found, 2 do add(found[n], found[n + 1]) end
end
if state == 'reserved' then
  local found = call('ZRANGE', reserved, offset, offset + limit - 1, 'WITHSCORES')
  for n = 1, #found, 2 do add(found[n], read_lease(call('HGET', leases, found[n])), int(found[n + 1])) end
elseif state == 'buried' then
  add_all(buried, offset, offset + limit - 1)
elseif state == 'ready' then
  local ready = both(part_of(waiting, 0, due_waiting), part_of(grouped, 0, due_grouped))
  local urgent, last = call('ZCOUNT', prioritized_ready, '-inf', '(1024'), offset + limit - 1
  local function add_prioritized(from, to)
    for _, member in ipairs(to >= from and call('ZRANGE', prioritized_ready, from, to) or {}) do
      if #member > 8 then add(string.sub(member, 9), (struct.unpack('>I8', member))) end
    end
  end
  add_prioritized(offset, math.min(last, urgent - 1))
  local from = math.max(0, offset - urgent)
  for _, job in ipairs(page_of(ready, from, math.max(0, last - urgent - from + 1))) do add(job[1], job[2]) end
  add_prioritized(math.max(offset - due_now, urgent), last - due_now)
  -- Where this script may not write, the last of them have not been promoted.
  from = math.max(offset - due_now, call('ZCARD', prioritized_ready))
  add_all(prioritized, from, math.min(last - due_now, due_in(prioritized) - 1))
else
  local function ahead_in(key, due) return part_of(key, due, call('ZCARD', key) - due) end
  local delayed = both(both(ahead_in(waiting, due_waiting), ahead_in(prioritized, due_in(prioritized))), ahead_in(grouped, due_grouped))
  for _, job in ipairs(page_of(delayed, offset, limit)) do add(job[1], job[2]) end
end
return reply
