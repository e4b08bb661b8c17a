-- lib/rarely.lua: builds what reserve.lua needs where something is out of the ordinary: for 'groups' and limits; for 'returns': expired leases, a
-- repeated call, priorities; and for 'late' jobs, or those that cannot be read, besides.
local call, try = redis.call, redis.pcall
--@include keys
--@include ends
rare.end_jobs = end_jobs
if part == 'groups' then
  --@include turns
  --@include take_turns
  --@include lend
  rare.take_turns, rare.lend = take_turns, lend
  if has_limits then
    --@include cap
    rare.cap_of = cap_of
  end
else
  --@include record
  --@include history
  --@include place
  --@include lease
  --@include take_back
  --@include promote
  --@include pick
  rare.take_back, rare.promote, rare.pick, rare.unplace = take_back, promote, pick, unplace
  if is_repeat then
    --@include give_back
    --@include undo_call
    rare.undo_call = undo_call
  end
  if part == 'late' then
    --@include expire
    --@include discard
    rare.options, rare.group_of, rare.expire, rare.discard = options, group_of, expire, discard
    rare.may_be_late = function(record)
      return has_traits(string.byte(record)) and (trait_at(record, 'E') or trait_at(record, 'U'))
    end
  end
end
