-- lib/moments.lua: the moments that traits give a job whose record can be read: E expires, U retry until. A kick lifts both: an operator wants
-- the job to run.
local TOO_LATE = 'too late to be tried again'

-- Infinite where the record has none. Also where the value begins.
local function moment(record, kind, first_due)
  local at = trait_at(record, kind)
  if not at then return math.huge end
  local mode, value = struct.unpack('>BI8', record, at)
  if mode == 2 then return math.huge end
  return mode == 1 and first_due + value or value, at
end
-- The record of a job that was started in time, in an attempt that does not count: it expires no more.
local function started(record)
  local at = trait_at(record, 'E')
  if not at then return record end
  return string.sub(record, 1, at - 1) .. '\2' .. string.sub(record, at + 1)
end
-- Whether a job of this past is not tried again, because its next attempt would come at `next_due`.
local function is_too_late(record, past, next_due)
  return past.kicks == 0 and moment(record, 'U', past.first_due) < math.max(next_due, now)
end
