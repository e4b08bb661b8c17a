-- lib/pause_end.lua: when the pause of the queue ends (math.huge: at resume), or nil. Forgets a pause that is over, if it may.
local function pause_end()
  local ends = call('HGET', meta, 'paused')
  if not ends then return nil end
  if ends == 'forever' then return math.huge end
  if ends + 0 > now then return ends + 0 end
  try('HDEL', meta, 'paused')
end
