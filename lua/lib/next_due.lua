-- lib/next_due.lua: the next moment (ms) at which there may be something to do, or nil.
local function next_due(...)
  local soonest
  for _, key in ipairs({ ... }) do
    local head = call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
    if head and (not soonest or head + 0 < soonest) then soonest = head + 0 end
  end
  return soonest
end
