-- lib/pick.lua: the next jobs of a queue with priorities, in exact order: what is more urgent than the default
-- priority, then the default, then the rest. Returns the members, those of them that came from `ready`, and true when
-- the answer must be AGAIN: after the clock was set back, jobs that are not due any more go from `ready` to `later`.
local function pick(want, ranked)
  local list, from_ready, moved = {}, {}, false
  local function put_back(member, due)
    if not moved then
      --@include unlock
    end
    moved = true
    local priority = call('ZSCORE', ready, member)
    if due then
      local ranked_again = string.sub(member, 7, 13) .. struct.pack('>I4', priority) .. string.sub(member, 14)
      call('ZADD', later, int(due), ranked_again)
      call('ZREM', ripe, ranked_again)
    end
    call('ZREM', ready, member)
  end
  local function add_ready(low, high)
    if not ranked or #list >= want then return end
    for _, member in ipairs(call('ZRANGEBYSCORE', ready, low, high, 'LIMIT', 0, want - #list)) do
      local due = #member > 13 and struct.unpack('>I6', member)
      if due and due <= now then
        list[#list + 1] = string.sub(member, 7)
        from_ready[#list] = member
      else
        put_back(member, due) -- or drop it: too short for any of ours
      end
    end
  end
  add_ready('-inf', '(1024')
  if #list < want then
    local found = call('ZRANGEBYSCORE', waiting, '-inf', int(now), 'LIMIT', 0, want - #list)
    for _, value in ipairs(found) do list[#list + 1] = value end
  end
  add_ready('(1024', '+inf')
  if next(from_ready) then call('ZCARD', ripe) end -- as in lib/probe.lua
  return list, from_ready, moved
end
