-- lib/replay.lua: the answer of a reserve whose first try was applied: the jobs that still lie in its slot.
local function replay(record)
  local reply, at = { 'JOBS', now_text, {} }, 5
  while at + 24 <= #record do
    local after = at + 24 + string.byte(record, at + 23)
    local id = string.sub(record, at + 24, after - 1)
    local job = call('HGET', jobs, id)
    if job then
      local n = #reply
      reply[n + 1], reply[n + 2] = string.sub(record, at, after - 1), job
      reply[n + 3] = string.sub(call('HGET', history, id) or '', 27)
    end
    at = after
  end
  return reply
end
