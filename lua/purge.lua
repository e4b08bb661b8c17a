-- purge.lua: remove up to about 500 jobs of one state.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] state
-- Returns {"OK", removed, 1 if more may be left} | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(J log N) for J jobs removed
-- Order   records first (see cancel.lua).
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include lease
--@include reclaim
--@include probe
if reclaim() then return { 'AGAIN' } end
local removed, more, state = 0, false, ARGV[2]
local function drop(ids)
  if not ids[1] then return end
  removed = removed + call('HDEL', jobs, unpack(ids))
  call('HDEL', history, unpack(ids))
end
local function sweep(key, low, high, id_from)
  local members = call('ZRANGEBYSCORE', key, low, high, 'WITHSCORES', 'LIMIT', 0, 500)
  local ids, gone, of_ready = {}, {}, {}
  for n = 1, #members, 2 do
    ids[#ids + 1], gone[#gone + 1] = string.sub(members[n], id_from), members[n]
    if key == ripe then of_ready[#of_ready + 1] = ready_member(members[n + 1] + 0, members[n]) end
  end
  drop(ids)
  if of_ready[1] then call('ZREM', ready, unpack(of_ready)) end
  if gone[1] then call('ZREM', key, unpack(gone)) end
  more = more or #gone == 500
end
if state == 'ready' then
  sweep(waiting, '-inf', int(now), 8)
  sweep(later, '-inf', int(now), 12)
  sweep(ripe, '-inf', '+inf', 12)
elseif state == 'delayed' then
  sweep(waiting, '(' .. int(now), '+inf', 8)
  sweep(later, '(' .. int(now), '+inf', 12)
elseif state == 'buried' then
  sweep(buried, '-inf', '+inf', 1)
else
  local slots = call('ZRANGE', reserved, 0, 19)
  for _, slot in ipairs(slots) do
    local ids = {}
    for _, entry in ipairs(entries_of(call('HGET', ledger, '@' .. slot))) do
      if not entry.stamp or record_of(entry) then ids[#ids + 1] = entry.id end -- else it is another job's
    end
    drop(ids)
    call('HDEL', ledger, '@' .. slot)
    call('ZREM', reserved, slot)
  end
  more = #slots == 20
end
if removed > 0 then call('HINCRBY', ledger, 'cancelled', removed) end
return { 'OK', removed, more and 1 or 0 }
