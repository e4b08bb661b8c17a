-- lib/bury.lua: sets a job aside until it is kicked.
local function bury(id, record, past, reason)
  past.buries, past.error = past.buries + 1, reason
  call('ZADD', buried, int(now), id)
  write_history(id, record, past)
end
