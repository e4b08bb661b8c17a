-- lib/turns.lua: looks at groups: which of their jobs may be served now, and from when on it may be the turn of each.
--@include limits
local LOOKS = 100 -- of one call, at groups that have nothing to give
local JUMPS = 200 -- of one look, over priorities whose jobs are not due
local own_limits, spent_until, closed_until, overdrawn = {}, {}, {}, {}
local has_limits = call('EXISTS', limits, spent) > 0

-- Reads the limits of these groups, and how far they are spent.
local function learn(names)
  if not has_limits or not names[1] then return end
  local both = {}
  for n, name in ipairs(names) do both[n], both[#names + n] = name, name .. '\n' end
  local found, moments = call('HMGET', limits, '', unpack(names)), call('ZMSCORE', spent, unpack(both))
  for n, name in ipairs(names) do
    own_limits[name] = read_limits(found[n + 1] or name ~= '\n' and found[1])
    spent_until[name], closed_until[name] = spent_of(own_limits[name], moments[n]), tonumber(moments[#names + n])
    if own_limits[name].interval > 0 and (tonumber(moments[n]) or 0) > spent_until[name] then
      overdrawn[#overdrawn + 1], overdrawn[#overdrawn + 2] = int(spent_until[name]), name
    end
  end
end
-- Stores what learn() has brought back to the limits of now: or it would be brought back to a later moment in each look.
local function write_off()
  if not overdrawn[1] then return end
  --@include allow_when_full
  call('ZADD', spent, unpack(overdrawn))
  overdrawn = {}
end
-- From when on there is a token, if this many have been taken before.
local function opens(name, own, taken)
  local closed = closed_until[name] or 0
  if own.interval == 0 then return closed end
  local tokens_until = spent_until[name] or 0
  if taken > 0 then tokens_until = math.max(tokens_until, now) + taken * own.interval end
  return math.max(closed, tokens_until - (own.burst - 1) * own.interval)
end
-- How many tokens there are.
local function tokens_of(name, own)
  if opens(name, own, 0) > now then return 0 end
  if own.interval == 0 then return math.huge end
  return math.floor((now + own.burst * own.interval - math.max(spent_until[name] or 0, now)) / own.interval)
end

-- A turn of a group: `room` for so many jobs, of which `free` are places and the rest tokens; the due `jobs` read so far; `from` where to read on, or
-- nil; `ahead` the first due time of the others, as far as it has met them.
local function look_at(group, at)
  local own = own_limits[group] or NO_LIMITS
  local turn = {
    group = group, at = at, own = own, free = math.huge, room = has_limits and tokens_of(group, own) or math.huge, ahead = false,
    jobs = {}, jumps = 0, given = 0, leased = 0, used = 0, from = '[' .. group .. '\nr',
    traits = struct.pack('>I2', #group + 2) .. 'G' .. string.char(#group) .. group, -- of a record that has no others
  }
  if own.concurrency and turn.room > 0 then
    turn.free = own.concurrency - call('ZLEXCOUNT', groups, '[' .. group .. '\nh', '(' .. group .. '\ni')
    turn.room = math.min(turn.room, turn.free)
  end
  return turn
end
-- Reads up to `many` more due jobs: id · due · entry · turn. A priority whose next job is not due is passed over in one jump.
local function read_on(turn, many)
  local kind_at = #turn.group + 2
  while turn.from and many > 0 do
    local entries, from = call('ZRANGEBYLEX', groups, turn.from, '(' .. turn.group .. '\nx', 'LIMIT', '0', int(many)), turn.from
    turn.from = nil
    for _, entry in ipairs(entries) do
      local kind, priority, due, at = string.byte(entry, kind_at), nil, nil, nil
      if kind == 114 and #entry > kind_at + 8 then
        due, at = struct.unpack('>I8', entry, kind_at + 1)
      elseif kind == 119 and #entry > kind_at + 12 then
        priority, due, at = struct.unpack('>I4I8', entry, kind_at + 1)
      end
      if not due then
        call('ZREM', groups, entry) -- another program has made it
        turn.from = from
        break
      end
      if due > now then
        turn.ahead = math.min(turn.ahead or due, due)
        if not priority and turn.own.ordered then return end
        turn.jumps = turn.jumps + 1
        if turn.jumps > JUMPS then
          turn.ahead = math.min(turn.ahead, now + 1000000) -- nobody knows what is behind
          return
        end
        turn.from = '(' .. turn.group .. (priority and '\nw' .. struct.pack('>I4', priority) .. string.rep('\255', 9) or '\ns')
        break
      end
      turn.jobs[#turn.jobs + 1], many = { string.sub(entry, at), due, entry, turn }, many - 1
      from = '(' .. entry
    end
    if not turn.from and many == 0 then
      turn.from = from
      return
    end
  end
end
-- From when on it may be its turn once `leased` of the jobs are held; or nil: it leaves the line.
local function next_moment(turn, back)
  if turn.free <= turn.leased then return nil end
  local due = (turn.jobs[turn.leased + 1] or turn.from) and 0 or turn.ahead
  local at = due and math.max(due, back, opens(turn.group, turn.own, turn.leased))
  return at and at < math.huge and at or nil
end
-- Puts these groups where they belong: pairs of a turn and the moment since which it stands there. Returns when the first of them may be served, or nil.
local function stand(turns)
  local places, gone, words, soonest = {}, {}, {}, nil
  for _, pair in ipairs(turns) do
    local turn = pair[1]
    local at = next_moment(turn, pair[2])
    if at then
      places[#places + 1], places[#places + 2], soonest = int(at), turn.group, math.min(soonest or at, at)
    else
      gone[#gone + 1] = turn.group
      if has_limits then words[#words + 1] = turn.group .. '\n' end
    end
  end
  if places[1] then call('ZADD', line, unpack(places)) end
  if gone[1] then call('ZREM', line, unpack(gone)) end
  if words[1] then call('HDEL', limits, unpack(words)) end
  return soonest
end
