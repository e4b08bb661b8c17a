-- lib/waits_for.lua: why no worker has a job that waits: a word, the moment at which that may end or '', how many jobs come before it or '', and the id
-- of the one that holds up its ordered group or ''. Jobs of other groups come in turns: of these only the groups count.
--@include pause_end
local function waits_for(id, due, where, record)
  --@include turns
  local function before(id, due, where, record, group)
    local _, _, priority = options(record)
    if where == waiting then
      return call('ZRANK', waiting, id) + call('ZCOUNT', prioritized_ready, '-inf', '(1024') + call('ZCOUNT', line, '-inf', '(' .. int(due))
    end
    if where == grouped then
      return call('ZLEXCOUNT', groups, '[' .. group .. '\nr', '(' .. waits_as(group, priority, due, id))
    end
    -- Those that no reserve has met yet come last.
    local urgent = call('ZRANK', prioritized_ready, ready_member(due, id)) or call('ZCARD', prioritized_ready)
    local others = priority > DEFAULT_PRIORITY and { waiting, grouped } or {}
    for _, key in ipairs(others) do urgent = urgent + call('ZCOUNT', key, '-inf', int(now)) end
    return urgent
  end
  local function at_or_none(moment) return moment < math.huge and int(moment) or '' end
  -- Of a group: the word, the moment, and who holds it up; or nil.
  local function held_up(group, id)
    local own, closed = own_limits[group] or NO_LIMITS, closed_until[group] or 0
    if closed > now then return closed < math.huge and 'group_closed' or 'group_paused', at_or_none(closed), '' end
    if own.ordered then
      local first, kind_at = call('ZRANGEBYLEX', groups, '[' .. group .. '\nh', '(' .. group .. '\nx', 'LIMIT', 0, 1)[1] or '', #group + 2
      if string.byte(first, kind_at) == 104 then return 'group_order', '', string.sub(first, kind_at + 1) end
      if string.byte(first, kind_at) == 114 and #first > kind_at + 8 then
        local due, at = struct.unpack('>I8', first, kind_at + 1)
        if string.sub(first, at) ~= id then return 'group_order', int(due), string.sub(first, at) end
      end
    elseif own.concurrency and call('ZLEXCOUNT', groups, '[' .. group .. '\nh', '(' .. group .. '\ni') >= own.concurrency then
      return 'group_concurrency', '', ''
    end
    local opens_at = opens(group, own, 0)
    if opens_at > now then return 'group_rate', at_or_none(opens_at), '' end
  end
  local group, paused = where == grouped and group_of(record), pause_end()
  if due > now then return 'delay', int(due), '', '' end
  if paused then return 'queue_paused', at_or_none(paused), '', '' end
  if not options(record) then return 'nothing', '', 0, '' end -- a worker buries it
  learn(group and { group, '\n' } or { '\n' })
  local ahead, word, moment, first = before(id, due, where, record, group), nil, '', ''
  if group then
    word, moment, first = held_up(group, id)
  end
  local whole = own_limits['\n'] or NO_LIMITS
  if not word and whole.concurrency and call('ZCARD', reserved) >= whole.concurrency then
    word, moment, first = 'queue_limit', '', ''
  elseif not word and opens('\n', whole, 0) > now then
    word, moment, first = 'queue_limit', at_or_none(opens('\n', whole, 0)), ''
  end
  return word or ahead > 0 and 'line' or 'nothing', moment or '', ahead, first or ''
end
