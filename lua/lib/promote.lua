-- lib/promote.lua: moves up to 500 prioritized jobs that fell due from `later` to `ready` and `ripe`.
-- Returns true when more are due: order is exact only when none is left, so the caller answers AGAIN.
local function promote()
  local due = call('ZRANGEBYSCORE', later, '-inf', int(now), 'WITHSCORES', 'LIMIT', 0, 500)
  if not due[1] then return false end
  local to_ready, to_ripe, members = {}, {}, {}
  for i = 1, #due, 2 do
    local member, score = due[i], due[i + 1]
    members[#members + 1] = member
    if #member > 11 then -- shorter than any of ours: only goes
      to_ripe[#to_ripe + 1], to_ripe[#to_ripe + 2] = score, member
      to_ready[#to_ready + 1] = int(struct.unpack('>I4', member, 8))
      to_ready[#to_ready + 1] = ready_member(tonumber(score), member)
    end
  end
  --@include probe
  --@include unlock
  if to_ready[1] then
    call('ZADD', ready, unpack(to_ready))
    call('ZADD', ripe, unpack(to_ripe))
  end
  call('ZREM', later, unpack(members))
  return #members == 500
end
