-- repair.lua: look through some of the records for jobs that lie in no state, which another program or a lost right has left behind,
-- and make them ready again. Also drops entries of `reserved` that have no lease: no worker could settle their jobs.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] cursor, 0 first
-- Returns {"OK", next cursor, repaired} cursor 0: it was the last part
-- Cost    O(P log N) for P records looked at, about 5, since the reply has all of each
--@include clock
--@include keys
--@include record
--@include place
--@include check_types
local ids, repaired, page = {}, 0, call('HSCAN', jobs, ARGV[2], 'COUNT', 5)
for n = 1, #page[2], 2 do
  local id, record = page[2][n], page[2][n + 1]
  local _, _, priority = options(record)
  local is_held = call('ZSCORE', reserved, id)
  if id ~= '' and not waits(id) and not call('ZSCORE', buried, id) and not (is_held and call('HEXISTS', leases, id) == 1) then
    place(id, priority or DEFAULT_PRIORITY, now)
    call('ZREM', reserved, id)
    repaired = repaired + 1
  end
end
if repaired > 0 then
  --@include wake
  wake(now)
end
return { 'OK', page[1], repaired }
