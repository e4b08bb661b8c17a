-- lib/history.lua: the past of a job that came back at least once: attempts 4 · timeouts 4 · releases 4 · buries 4 · kicks 4 · first due 8 · last
-- error. `first_due`: when it fell due first, if this is the first time that it comes back.
--@include asked
local function no_history(first_due)
  return { attempts = 0, timeouts = 0, releases = 0, buries = 0, kicks = 0, first_due = first_due, error = '' }
end
local function read_history(id, first_due)
  local packed = call('HGET', history, id)
  if not packed or #packed < 28 then return no_history(first_due) end
  local past = { error = string.sub(packed, 29) }
  past.attempts, past.timeouts, past.releases, past.buries, past.kicks, past.first_due = struct.unpack('>I4I4I4I4I4I8', packed)
  return past
end
-- Also marks the record, so that the script that reserves the job reads its history, and forgets the time for which it was asked while it was held.
local function write_history(id, record, past)
  local counts = struct.pack('>I4I4I4I4I4I8', past.attempts, past.timeouts, past.releases, past.buries, past.kicks, math.max(past.first_due, 0))
  call('HSET', history, id, counts .. past.error)
  local _, unasked = asked_for(record)
  if unasked or options(record) and not has_history(string.byte(record)) then
    call('HSET', jobs, id, with_history(unasked or record))
  end
end
-- The due time of a job that is stored, or moved, has passed: it keeps its place, and waits from now on. Nothing fails where the user may not say so.
local function waits_from_now(id, record)
  try('HSET', history, id, struct.pack('>I4I4I4I4I4I8', 0, 0, 0, 0, 0, now))
  return with_history(record)
end
-- Whether a job has been served, kicked or buried, since it was stored.
local function has_come_back(id, record)
  if not has_history(string.byte(record) or 0) then return false end
  local past = read_history(id)
  return past.attempts + past.timeouts + past.buries + past.kicks > 0
end
