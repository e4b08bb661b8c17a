-- list.lua: a page of jobs of one state, in their order.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] state   ARGV[3] offset; for reserved jobs the rank of a lease slot   ARGV[4] limit, at most 200
-- Returns {"JOBS", state, looked, id, record, due, history, attempts, deadline, …} six per job; looked at fewer than asked for: it
--         was the last page; for reserved jobs {"JOBS", state, slots, …} with the jobs of up to 20 slots from that rank
--       | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log² N + L)
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include lease
--@include reclaim
if reclaim() then return { 'AGAIN' } end
local state, offset, limit = ARGV[2], ARGV[3] + 0, ARGV[4] + 0
local reply = { 'JOBS', state, 0 }
local function add(id, due, deadline)
  reply[3] = reply[3] + 1
  local record = call('HGET', jobs, id)
  if not record then return end
  local h, packed = read_history(id)
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = id, record, int(due or due_of(record, h, packed)), packed or ''
  reply[n + 5], reply[n + 6] = deadline and int(h.attempts + 1) or '', deadline and int(deadline) or ''
end
if state == 'reserved' then
  local slots = call('ZRANGE', reserved, offset, offset + 19)
  for _, slot in ipairs(slots) do
    for _, entry in ipairs(entries_of(call('HGET', ledger, '@' .. slot))) do
      if not entry.stamp or record_of(entry) then add(entry.id, nil, entry.deadline) end
    end
  end
  reply[3] = #slots
elseif state == 'buried' then
  for _, id in ipairs(call('ZRANGE', buried, offset, offset + limit - 1)) do add(id) end
elseif state == 'ready' then
  --@include promote
  if call('ZCARD', later) > 0 and promote() then return { 'AGAIN' } end
  local urgent = call('ZCOUNT', ready, '-inf', '(1024')
  local due_now = call('ZCOUNT', waiting, '-inf', int(now))
  local function from_ready(first, last)
    for _, member in ipairs(call('ZRANGE', ready, first, last)) do
      if #member > 13 then add(string.sub(member, 14), (struct.unpack('>I6', member))) end
    end
  end
  local last = offset + limit - 1
  if offset < urgent then from_ready(offset, math.min(last, urgent - 1)) end
  local first_waiting, last_waiting = math.max(0, offset - urgent), math.min(last - urgent, due_now - 1)
  if last_waiting >= first_waiting then
    local found = call('ZRANGE', waiting, first_waiting, last_waiting, 'WITHSCORES')
    for n = 1, #found, 2 do add(string.sub(found[n], 8), found[n + 1] + 0) end
  end
  if last >= urgent + due_now then from_ready(math.max(offset - due_now, urgent), last - due_now) end
else
  --@include merge
  for _, job in ipairs(merge_delayed(offset, limit)) do add(job[1], job[2]) end
end
return reply
