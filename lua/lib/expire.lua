-- lib/expire.lua: ends a waiting job that is too late to be run: buried, or removed where its trait says so. True: it has ended; it was
-- counted, unless another program has left the entry beside that of a reserved job.
--@include history
--@include place
--@include ends
--@include bury
--@include moments
local is_first = true
local function expire(id, record, due, where)
  local past = has_history(string.byte(record)) and read_history(id, due) or no_history(due)
  local expires, at = moment(record, 'E', past.first_due)
  local counter, reason = nil, nil
  if past.kicks == 0 and past.attempts + past.timeouts == 0 and expires < now then
    counter, reason = string.byte(record, at + 9) == 1 and 'dropped' or 'expired', 'expired'
  elseif is_too_late(record, past, now) then
    counter, reason = 'expired', past.error ~= '' and past.error or TOO_LATE
  else
    return false
  end
  if is_first then
    --@include allow_when_full
    is_first = false
  end
  if call('ZSCORE', reserved, id) then
    counter = nil
  elseif counter == 'dropped' then
    end_jobs({ id }, { false })
  else
    bury(id, record, past, reason)
  end
  for _, key in ipairs(where and { where } or { waiting, prioritized }) do unplace(id, due, key, record) end
  if counter then call('HINCRBY', meta, counter, 1) end
  return true
end
