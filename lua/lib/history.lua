-- lib/history.lua: the past of a job that came back at least once: attempts 4 · timeouts 4 · releases 4 · buries 4 · kicks 4 · last error.
local function read_history(id)
  local packed = call('HGET', history, id)
  if not packed or #packed < 20 then
    return { attempts = 0, timeouts = 0, releases = 0, buries = 0, kicks = 0, error = '' }
  end
  local past = { error = string.sub(packed, 21) }
  past.attempts, past.timeouts, past.releases, past.buries, past.kicks = struct.unpack('>I4I4I4I4I4', packed)
  return past
end
-- Also marks the record, so that the script that reserves the job reads its history.
local function write_history(id, record, past)
  local counts = struct.pack('>I4I4I4I4I4', past.attempts, past.timeouts, past.releases, past.buries, past.kicks)
  call('HSET', history, id, counts .. past.error)
  if options(record) and string.byte(record) < HAS_HISTORY then call('HSET', jobs, id, with_history(record)) end
end
