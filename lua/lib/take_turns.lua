-- lib/take_turns.lua: the due jobs of `waiting` and of the groups in line, in the order of their moments; each group has a job (as many as its
-- weight) a turn, and further rounds where the batch is not full. Adds id · due to `picked`; returns the jobs of groups, id → job; and true if it has
-- put groups right that had nothing to give, and there may be more of them.
local function take_turns(picked, most)
  local of, turns, wrong, looks = {}, {}, {}, 0
  local now_text = int(now)
  local own, own_at = call('ZRANGEBYSCORE', waiting, '-inf', now_text, 'WITHSCORES', 'LIMIT', '0', int(most - #picked / 2)), 1
  local lined, line_at, passed, page, is_all, share = {}, 1, 0, math.min(most, LOOKS), false, nil
  local function fetch()
    lined, line_at = call('ZRANGEBYSCORE', line, '-inf', now_text, 'WITHSCORES', 'LIMIT', int(passed), int(page)), 1
    passed, is_all = passed + #lined / 2, #lined < 2 * page
    if has_limits then
      local names = {}
      for n = 1, #lined, 2 do names[#names + 1] = lined[n] end
      learn(names)
    end
    share, page = share or math.ceil(most / math.max(1, (#own + #lined) / 2)), math.min(4 * page, LOOKS)
  end
  local function give(turn, weight)
    for _ = 1, weight do
      if #picked >= 2 * most or turn.given >= turn.room then return end
      if not turn.jobs[turn.given + 1] then
        -- One more, where that tells whether the group stays in line.
        local many = math.min(share, turn.room - turn.given)
        read_on(turn, turn.free > turn.given + many and many + 1 or many)
      end
      local job = turn.jobs[turn.given + 1]
      if not job then return end
      if of[job[1]] then
        -- Two groups have an entry of it, one of which means nothing: the next reserve knows which.
        table.remove(turn.jobs, turn.given + 1)
        turn.ahead = now
      else
        turn.given = turn.given + 1
        picked[#picked + 1], picked[#picked + 2], of[job[1]] = job[1], int(job[2]), job
      end
    end
  end
  fetch()
  while #picked < 2 * most and looks < LOOKS do
    if not lined[line_at] and not is_all then fetch() end
    local group, at, due = lined[line_at], tonumber(lined[line_at + 1]), tonumber(own[own_at + 1])
    if not group and not due then break end
    if due and not (group and at < due) then
      picked[#picked + 1], picked[#picked + 2], own_at = own[own_at], own[own_at + 1], own_at + 2
    else
      local turn = look_at(group, at)
      line_at = line_at + 2
      if turn.own.weight > 1 then turn.used = math.min(tonumber(call('HGET', limits, group .. '\n')) or 0, turn.own.weight - 1) end
      give(turn, turn.own.weight - turn.used)
      looks = looks + math.floor(turn.jumps / 10) -- they cost as much
      if turn.given > 0 then
        turns[#turns + 1] = turn
      else
        wrong[#wrong + 1], looks = { turn, at }, looks + 1
      end
    end
  end
  if not picked[1] and looks < LOOKS then
    -- All others stand in the future. The clock may have been set back since: the first of them are looked at all the same.
    local ahead = call('ZRANGE', line, #wrong, #wrong + 7)
    learn(ahead)
    for _, group in ipairs(ahead) do
      local turn = look_at(group, now)
      if turn.free > 0 then read_on(turn, 1) end
      wrong[#wrong + 1] = { turn, now }
    end
  end
  local is_more = looks >= LOOKS
  write_off()
  if wrong[1] then
    --@include allow_when_full
    is_more = (stand(wrong) or math.huge) <= now or is_more
  end
  local before = -1
  while #picked < 2 * most and #picked > before do
    before = #picked
    for _, turn in ipairs(turns) do give(turn, turn.own.weight) end
  end
  return of, is_more
end
