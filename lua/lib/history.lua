-- lib/history.lua: what happened to a job before; kept only for jobs that came back once.
local function read_history(id)
  local packed = call('HGET', history, id)
  if not packed or #packed < 26 then
    return { attempts = 0, timeouts = 0, releases = 0, buries = 0, kicks = 0, due = 0, error = '' }, packed
  end
  local h = { error = string.sub(packed, 27) }
  h.attempts, h.timeouts, h.releases, h.buries, h.kicks, h.due = struct.unpack('>I4I4I4I4I4I6', packed)
  return h, packed
end
local function write_history(id, h)
  call('HSET', history, id,
    struct.pack('>I4I4I4I4I4I6', h.attempts, h.timeouts, h.releases, h.buries, h.kicks, math.max(0, h.due)) .. h.error)
end
local function set_aside(id, h, reason)
  h.buries, h.error = h.buries + 1, reason
  call('ZADD', buried, int(now), id)
  write_history(id, h)
end
