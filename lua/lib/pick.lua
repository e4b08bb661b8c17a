-- lib/pick.lua: the next jobs of a queue with priorities: first the more urgent than the default priority, in exact order, then those of the
-- default priority and of groups, then the rest. Returns id · due of each; true if it has dropped entries that promote() did not make: then it may
-- pass over jobs that promote() has to bring; and what `take_groups`, which is take_turns() or nil, says of groups. promote() has run.
--@include place
local function pick(most, take_groups)
  local picked, has_dropped, of, is_more = {}, false, nil, false
  local function add_prioritized(low, high)
    if #picked >= 2 * most then return end
    for _, member in ipairs(call('ZRANGEBYSCORE', prioritized_ready, low, high, 'LIMIT', 0, most - #picked / 2)) do
      local due, id = #member > 8 and (struct.unpack('>I8', member)), string.sub(member, 9)
      if due and ready_member(due, id) == member then
        picked[#picked + 1], picked[#picked + 2] = id, int(due)
      else
        call('ZREM', prioritized_ready, member)
        has_dropped = true
      end
    end
  end
  add_prioritized('-inf', '(1024')
  if #picked < 2 * most then
    if take_groups then
      of, is_more = take_groups(picked, most)
    else
      local due = call('ZRANGEBYSCORE', waiting, '-inf', int(now), 'WITHSCORES', 'LIMIT', 0, most - #picked / 2)
      for _, value in ipairs(due) do picked[#picked + 1] = value end
    end
  end
  if not is_more then add_prioritized('1024', '+inf') end
  return picked, has_dropped, of, is_more
end
