-- lib/next_due.lua: the next moment at which there may be something to do, or nil.
local function next_due()
  local soonest
  for _, key in ipairs({ waiting, reserved, prioritized, line }) do
    local first = tonumber(call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
    if first and (not soonest or first < soonest) then soonest = first end
  end
  return soonest
end
