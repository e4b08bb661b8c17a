-- lib/lend.lua: these jobs of groups are held from now on: in their books, and out of where they waited; their groups go to the end of the line, one of
-- some weight when it has had so many jobs.
local function lend(theirs)
  local held, entries, turns, places, words, done = {}, {}, {}, {}, {}, {}
  for n, job in ipairs(theirs) do
    local turn = job[4]
    held[2 * n - 1], held[2 * n], entries[n] = '0', turn.group .. '\nh' .. job[1], job[3]
    if turn.leased == 0 then turns[#turns + 1] = { turn } end
    turn.leased, turn.last = turn.leased + 1, n
  end
  call('ZADD', groups, unpack(held))
  call('ZREM', groups, unpack(entries))
  for _, pair in ipairs(turns) do
    local turn, own = pair[1], pair[1].own
    pair[2] = now - #theirs + turn.last -- in the order of the batch: at one moment it would be that of their names
    if own.interval > 0 then
      places[#places + 1] = int(math.max(spent_until[turn.group] or 0, now) + turn.leased * own.interval)
      places[#places + 1] = turn.group
    end
    if own.weight > 1 then
      local used = turn.used + turn.leased
      if used < own.weight then
        pair[2], words[#words + 1], words[#words + 2] = turn.at, turn.group .. '\n', used
      elseif turn.used > 0 then
        done[#done + 1] = turn.group .. '\n'
      end
    end
  end
  if places[1] then call('ZADD', spent, unpack(places)) end
  if words[1] then call('HSET', limits, unpack(words)) end
  if done[1] then call('HDEL', limits, unpack(done)) end
  stand(turns)
  if not has_limits then return end
  local past = call('ZRANGEBYSCORE', spent, '-inf', int(now), 'LIMIT', 0, 10) -- means nothing any more
  if past[1] then call('ZREM', spent, unpack(past)) end
end
