-- lib/discard.lua: removes an entry that no consumer can get. An entry without a record means nothing; a job whose record is damaged, or of
-- a newer format, is buried with that reason, and counted.
--@include history
--@include place
--@include bury
-- `where`: it lies; nil: in `waiting`, in `prioritized`, or in both.
local function discard(id, record, due, where)
  --@include allow_when_full
  if record and not call('ZSCORE', reserved, id) then
    local _, why = payload_at(record)
    bury(id, record, read_history(id, due), why)
  else
    record = nil -- another program has left an entry beside that of a reserved job
  end
  for _, key in ipairs(where and { where } or { waiting, prioritized }) do unplace(id, due, key, record) end
  if record then call('HINCRBY', meta, 'buried', 1) end
end
