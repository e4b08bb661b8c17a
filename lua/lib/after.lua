-- lib/after.lua: how many jobs of a state are at a place in its order or before it. The job of that place may have gone meanwhile.
--@include less
-- How many entries of a sorted set are at this place or before it; and true if the entry itself is there.
local function up_to(key, at, member)
  local score = call('ZSCORE', key, member)
  if score and int(score) == at then return call('ZRANK', key, member) + 1, true end
  local low, high = call('ZCOUNT', key, '-inf', '(' .. at), call('ZCOUNT', key, '-inf', at)
  while low < high do
    local mid = math.floor((low + high) / 2)
    if is_less(member, call('ZRANGE', key, mid, mid)[1]) then high = mid else low = mid + 1 end
  end
  return low, false
end
local function count_up_to(state, due_waiting, due_grouped, place)
  local priority, at, id = string.match(place, '^(%S+) (%S+) (.*)$')
  if state == 'reserved' or state == 'buried' then return (up_to(state == 'buried' and buried or reserved, at, id)) end
  local first, is_in_waiting = up_to(waiting, at, id)
  local of_groups, is_in_grouped = up_to(grouped, at, id)
  local due_now = due_waiting + due_grouped
  if state == 'delayed' then
    return math.max(0, first - due_waiting) + math.max(0, of_groups - due_grouped)
      + math.max(0, up_to(prioritized, at, id) - call('ZCOUNT', prioritized, '-inf', int(now)))
  end
  local member = ready_member(at + 0, id)
  local promoted, due = call('ZSCORE', prioritized_ready, member), call('ZSCORE', prioritized, id)
  -- Where this script may not write, the last of them have not been promoted.
  if due and int(due) == at and at + 0 <= now and not promoted then return due_now + call('ZRANK', prioritized, id) + 1 end
  if is_in_waiting or is_in_grouped or not promoted and priority == '1024' then
    return call('ZCOUNT', prioritized_ready, '-inf', '(1024') + math.min(first, due_waiting) + math.min(of_groups, due_grouped)
  end
  priority = promoted and int(promoted) or priority
  return up_to(prioritized_ready, priority, member) + (priority + 0 < 1024 and 0 or due_now)
end
