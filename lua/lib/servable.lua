-- lib/servable.lua: how many jobs of groups are ready and in groups that may be served now, and the first due time of them. It looks at the first 100
-- groups in line; where there are more, it takes these for the average. A part of a priority that is due is counted, not read.
--@include turns
local function servable()
  local lined, in_line = call('ZRANGEBYSCORE', line, '-inf', int(now), 'LIMIT', 0, LOOKS), call('ZCOUNT', line, '-inf', int(now))
  local many, first_due, left = 0, nil, 1000 -- priorities that are looked at
  learn(lined)
  for _, group in ipairs(lined) do
    local turn, kind_at = look_at(group, now), #group + 2
    while turn.room > 0 and turn.from and left > 0 do
      left = left - 1
      local entry, due = call('ZRANGEBYLEX', groups, turn.from, '(' .. group .. '\nx', 'LIMIT', 0, 1)[1], nil
      turn.from = entry and '(' .. entry -- of another program, unless it is as long as ours
      if entry and string.byte(entry, kind_at) == 114 and #entry > kind_at + 8 then
        due = struct.unpack('>I8', entry, kind_at + 1)
        if due <= now then many = many + 1 elseif turn.own.ordered then break end
      elseif entry and #entry > kind_at + 12 then
        local head, priority = string.sub(entry, 1, kind_at + 4), nil
        priority, due = struct.unpack('>I4I8', entry, kind_at + 1)
        many = many + call('ZLEXCOUNT', groups, '[' .. head, '(' .. head .. struct.pack('>I8', now + 1))
        turn.from = '(' .. head .. string.rep('\255', 9)
      end
      if due and due <= now then first_due = math.min(first_due or due, due) end
    end
  end
  if #lined < in_line then many = math.floor(many * in_line / #lined) end
  return many, first_due
end
