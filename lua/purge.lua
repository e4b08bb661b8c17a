-- purge.lua: remove up to 500 jobs of one state.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] state
-- Returns {"OK", removed, 1 if more may be left} | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(J log N) for J jobs removed, and the leases that lib/forget_calls.lua reads
--@include clock
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
--@include remove
--@include check_types
--@include check_group_types
if reclaim() then return { 'AGAIN' } end
local state, low, high = ARGV[2], '-inf', '+inf'
if state == 'ready' then high = int(now) end
if state == 'delayed' then low = '(' .. int(now) end
for _, key in ipairs(state == 'reserved' and { reserved } or state == 'buried' and { buried } or { waiting, prioritized, grouped }) do
  local entries, ids, removed = call('ZRANGEBYSCORE', key, low, high, 'LIMIT', 0, 500), {}, 0
  if entries[1] then
    local held = call('ZMSCORE', reserved, unpack(entries))
    for n, id in ipairs(entries) do
      -- Another program has left an entry beside that of a reserved job: only the entry goes.
      if key == reserved or not held[n] then ids[#ids + 1] = id else call('ZREM', key, id) end
      if ids[#ids] == id then removed = removed + call('HEXISTS', jobs, id) end
    end
    if ids[1] then remove(ids) end
    if removed > 0 then call('HINCRBY', meta, 'cancelled', removed) end
    return { 'OK', removed, 1 }
  end
end
return { 'OK', 0, 0 }
