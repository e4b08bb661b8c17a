-- lib/expire.lua: ends a waiting job that is too late to be run: buried, or removed where its trait says so. True: it has ended; it was
-- counted, unless another program has left the entry beside that of a reserved job.
--@include history
--@include place
--@include ends
--@include bury
--@include moments
local function expire(id, record, due)
  local past = has_history(string.byte(record)) and read_history(id, due)
  if past and past.kicks > 0 then return false end
  local first_due, counter, reason = past and past.first_due or due, nil, nil
  local expires, at = moment(record, 'E', first_due)
  if expires < now and not (past and past.attempts > 0) then
    counter, reason = string.byte(record, at + 9) == 1 and 'dropped' or 'expired', 'expired'
  elseif moment(record, 'U', first_due) < now then
    counter, reason = 'expired', past and past.error ~= '' and past.error or TOO_LATE
  else
    return false
  end
  --@include allow_when_full
  if call('ZSCORE', reserved, id) then
    counter = nil
  elseif counter == 'dropped' then
    end_jobs({ id }, { false })
  else
    bury(id, record, past or read_history(id, due), reason)
  end
  unplace(id, due, false)
  unplace(id, due, true)
  if counter then call('HINCRBY', meta, counter, 1) end
  return true
end
