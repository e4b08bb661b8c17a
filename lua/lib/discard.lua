-- lib/discard.lua: removes an entry that reserve cannot hand out. An entry without a record means nothing; a job whose record is damaged,
-- or of a newer format, is buried with that reason.
--@include history
--@include place
--@include bury
local function discard(id, record, due)
  --@include allow_when_full
  if record and not call('ZSCORE', reserved, id) then
    local flags = string.byte(record)
    bury(id, record, read_history(id, due), flags and flags > HAS_OPTIONS + HAS_HISTORY and 'unknown record format' or 'corrupt record')
  end
  unplace(id, due, false)
  unplace(id, due, true)
end
