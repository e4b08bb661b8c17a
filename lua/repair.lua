-- repair.lua: look through some of the records for jobs that lie in no state, which another program or a lost right has left behind. Those
-- whose lease is there go back to their old place. The due times of the others are lost: they are buried, so that none runs early. Jobs that
-- are in `reserved` without a lease, which no worker could settle, become ready: a reserve has taken them when their time had come. The books of
-- groups get the entries that are missing, and lose those of jobs that nobody holds.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] cursor, 0 first
-- Returns {"OK", next cursor, given back or ready, buried} cursor 0: it was the last part
-- Cost    O(P log N) for P records looked at: about 5, since the reply has all of each, or all of a hash that is small
--@include clock
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include give_back
--@include book
--@include forget_calls
--@include check_types
--@include check_group_types
--@include allow_when_full
local back, set_aside, has_mended, page = 0, 0, false, call('HSCAN', jobs, ARGV[2], 'COUNT', 5)
for n = 1, #page[2], 2 do
  local id, record = page[2][n], page[2][n + 1]
  local is_held, lease = call('ZSCORE', reserved, id), call('HGET', leases, id)
  if id ~= '' and not waits(id) and not call('ZSCORE', buried, id) and not (is_held and lease) then
    if lease then
      give_back(id, lease)
      forget_calls({ lease })
      back = back + 1
    elseif is_held then
      local _, _, priority = options(record)
      place_back(id, record, priority, now)
      end_leases({ id }, { false })
      back = back + 1
    else
      bury(id, record, read_history(id, now), 'found in no state: its due time is lost')
      call('HINCRBY', meta, 'buried', 1)
      set_aside = set_aside + 1
    end
  end
  --@include mend_book
  if id ~= '' then has_mended = mend_book(id, record) or has_mended end
end
if back > 0 or has_mended then
  --@include wake
  wake(now)
end
return { 'OK', page[1], back, set_aside }
