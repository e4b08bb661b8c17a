-- cancel.lua: remove jobs in any state.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] rank of the first lease slot to look through, 0 first   ARGV[3…] ids, at most 200
-- Returns {"OK", cancelled} | {"AGAIN", cancelled, next rank, id, …} these are held, look on from there for them
-- Cost    O(I log N) for waiting and buried ones; 200 lease slots a call for held ones
-- Order   the record goes first: a member without a record means nothing.
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include lease
--@include held
--@include probe
local cancelled, wanted, open = 0, {}, {}
for n = 3, #ARGV do
  local id = ARGV[n]
  local record = call('HGET', jobs, id)
  if record then
    local readable, _, _ = options(record)
    local has_history = call('HEXISTS', history, id) == 1
    if (readable and waits(id, record, has_history)) or call('ZSCORE', buried, id) then
      call('HDEL', jobs, id)
      if readable then waits(id, record, has_history, true) end
      call('ZREM', buried, id)
      call('HDEL', history, id)
      cancelled = cancelled + 1
    else
      wanted[id] = record
    end
  end
end
local rank = nil
if next(wanted) then
  rank = held(wanted, ARGV[2] + 0, function(id, slot, entry)
    if wanted[id] then
      wanted[id] = nil
      call('HDEL', jobs, id)
      end_lease(slot, entry)
      call('HDEL', history, id)
      cancelled = cancelled + 1
    end
  end)
end
if cancelled > 0 then call('HINCRBY', ledger, 'cancelled', cancelled) end
for id in pairs(wanted) do open[#open + 1] = id end
if rank and open[1] then return { 'AGAIN', cancelled, int(rank), unpack(open) } end
-- A record that lies nowhere was orphaned by a refused write: it goes too.
for _, id in ipairs(open) do
  call('HDEL', jobs, id)
  cancelled = cancelled + 1
end
return { 'OK', cancelled }
