-- lib/turns.lua: looks at groups: which of their jobs may be served now, and from when on it may be the turn of each.
--@include limits
local LOOKS = 100 -- of one call, at groups that have nothing to give
local PAGES, PAGE = 10, 100 -- of one look, over entries of jobs that are not due
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
    jobs = {}, given = 0, leased = 0, used = 0, from = '[' .. group .. '\nr',
    traits = struct.pack('>I2', #group + 2) .. 'G' .. string.char(#group) .. group, -- of a record that has no others
  }
  if own.concurrency and turn.room > 0 then
    turn.free = own.concurrency - call('ZLEXCOUNT', groups, '[' .. group .. '\nh', '(' .. group .. '\ni')
    turn.room = math.min(turn.room, turn.free)
  end
  return turn
end
-- Reads `many` more due jobs, if there are: id · due · entry · turn. What is not due is passed over, a priority at a time.
local function read_on(turn, many)
  local kind_at, pages, wanted = #turn.group + 2, 0, #turn.jobs + many
  while turn.from and #turn.jobs < wanted do
    local limit, last_ahead = pages == 0 and many or PAGE, nil
    local entries = call('ZRANGEBYLEX', groups, turn.from, '(' .. turn.group .. '\nx', 'LIMIT', '0', int(limit))
    for _, entry in ipairs(entries) do
      local kind, priority, due, at = string.byte(entry, kind_at), nil, nil, nil
      if kind == 114 and #entry > kind_at + 8 then
        due, at = struct.unpack('>I8', entry, kind_at + 1)
      elseif kind == 119 and #entry > kind_at + 12 then
        priority, due, at = struct.unpack('>I4I8', entry, kind_at + 1)
      end
      last_ahead = nil
      if not due then
        call('ZREM', groups, entry) -- another program has made it
      elseif due <= now then
        turn.jobs[#turn.jobs + 1] = { string.sub(entry, at), due, entry, turn }
      else
        turn.ahead = math.min(turn.ahead or due, due)
        last_ahead = priority and '\nw' .. struct.pack('>I4', priority) .. string.rep('\255', 9) or '\ns'
        if not priority and turn.own.ordered then
          turn.from = nil
          return
        end
      end
    end
    turn.from, pages = nil, pages + 1
    if #entries == limit then turn.from = '(' .. (last_ahead and turn.group .. last_ahead or entries[limit]) end
    if pages == PAGES and turn.from and #turn.jobs < wanted then
      turn.from, turn.ahead = nil, math.min(turn.ahead or math.huge, now + 1000000) -- the next look is as short
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
-- Puts these groups where they belong: pairs of a turn and the moment since which it stands there. True: one may be served now.
local function stand(turns)
  local places, gone, words, is_ready = {}, {}, {}, false
  for _, pair in ipairs(turns) do
    local turn = pair[1]
    local at = next_moment(turn, pair[2])
    if at then
      places[#places + 1], places[#places + 2], is_ready = int(at), turn.group, is_ready or at <= now
    else
      gone[#gone + 1] = turn.group
      if has_limits then words[#words + 1] = turn.group .. '\n' end
    end
  end
  if places[1] then call('ZADD', line, unpack(places)) end
  if gone[1] then call('ZREM', line, unpack(gone)) end
  if words[1] then call('HDEL', limits, unpack(words)) end
  return is_ready
end
