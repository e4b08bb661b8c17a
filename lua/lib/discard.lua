-- lib/discard.lua: removes an entry that no consumer can get. An entry without a record means nothing; a job whose record is damaged, or of
-- a newer format, is buried with that reason, and counted.
--@include history
--@include place
--@include bury
local function discard(id, record, due)
  --@include allow_when_full
  if record and not call('ZSCORE', reserved, id) then
    local _, why = payload_at(record)
    bury(id, record, read_history(id, due), why)
  else
    record = nil -- another program has left an entry beside that of a reserved job
  end
  unplace(id, due, false)
  unplace(id, due, true)
  if record then call('HINCRBY', meta, 'buried', 1) end
end
