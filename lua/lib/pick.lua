-- lib/pick.lua: the next jobs of a queue with priorities, in exact order: first the more urgent than the default priority, then the default,
-- then the rest. Returns id · due of each. promote() has run.
local function pick(most)
  local picked = {}
  local function add_prioritized(low, high)
    if #picked >= 2 * most then return end
    for _, member in ipairs(call('ZRANGEBYSCORE', prioritized_ready, low, high, 'LIMIT', 0, most - #picked / 2)) do
      if #member > 8 then
        picked[#picked + 1], picked[#picked + 2] = string.sub(member, 9), int(struct.unpack('>I8', member))
      else
        call('ZREM', prioritized_ready, member) -- none of ours
      end
    end
  end
  add_prioritized('-inf', '(1024')
  if #picked < 2 * most then
    local due = call('ZRANGEBYSCORE', waiting, '-inf', int(now), 'WITHSCORES', 'LIMIT', 0, most - #picked / 2)
    for _, value in ipairs(due) do picked[#picked + 1] = value end
  end
  add_prioritized('(1024', '+inf')
  return picked
end
