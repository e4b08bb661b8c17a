-- lib/take_rarely.lua: takes jobs that reserve.lua has leased from where they waited, where there are groups, limits or priorities.
local theirs, their_ids = {}, {}
for n, id in ipairs(ids) do
  local job = of and of[id]
  if job then
    theirs[#theirs + 1], their_ids[#their_ids + 1] = job, id
  elseif is_prioritized then
    rare.unplace(id, dues[n] + 0, prioritized)
  end
end
if #theirs < count then call('ZREM', waiting, unpack(ids)) end
if theirs[1] then
  call('ZREM', grouped, unpack(their_ids))
  rare.lend(theirs)
end
if cap and cap.interval > 0 then call('ZADD', spent, int(cap.spent_until + count * cap.interval), '\n') end
