-- lib/pause_end.lua: when the pause of the queue ends (math.huge: at resume, for the word forever), or nil. Forgets a pause that is over, if it may.
local function pause_end()
  local ends = call('HGET', limits, '\n\n')
  if not ends then return nil end
  local at = tonumber(ends) or math.huge
  if at > now then return at end
  try('HDEL', limits, '\n\n')
end
