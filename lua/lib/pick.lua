-- lib/pick.lua: the next jobs of a queue with priorities, in exact order: what is more urgent than the default
-- priority, then the default, then the rest. Returns {member, due, …} and the members that came from `ready`.
local function pick(want, ranked)
  local list, from_ready = {}, {}
  local function add_ready(low, high)
    if not ranked or #list >= want * 2 then return end
    for _, member in ipairs(call('ZRANGEBYSCORE', ready, low, high, 'LIMIT', 0, want - #list / 2)) do
      local due = struct.unpack('>I6', member)
      if due <= now then -- not so after the clock was set back
        list[#list + 1], list[#list + 2] = string.sub(member, 7), due
        from_ready[#list / 2] = member
      end
    end
  end
  add_ready('-inf', '(1024')
  if #list < want * 2 then
    local found = call('ZRANGEBYSCORE', waiting, '-inf', int(now), 'WITHSCORES', 'LIMIT', 0, want - #list / 2)
    for _, value in ipairs(found) do list[#list + 1] = value end
  end
  add_ready('(1024', '+inf')
  if next(from_ready) then call('ZCARD', ripe) end -- as in lib/probe.lua
  return list, from_ready
end
