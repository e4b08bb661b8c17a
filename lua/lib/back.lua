-- lib/back.lua: puts a job that a consumer held where it waits from now on. In an ordered group it is the first, until it has ended. What it was
-- asked for while it was held is over.
--@include limits
local function place_back(id, record, priority, due)
  local _, unasked = asked_for(record)
  if unasked then call('HSET', jobs, id, unasked) end
  local group = group_of(record)
  if group then
    --@include check_group_types
    local found = call('HMGET', limits, group, '')
    if read_limits(found[1] or found[2]).ordered then
      enter(group, id, due, first_as(group, due, id))
      return
    end
  end
  place(id, priority or DEFAULT_PRIORITY, due, group)
end
