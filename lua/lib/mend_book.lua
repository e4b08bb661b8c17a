-- lib/mend_book.lua: the book of a job's group gets the entry of the job, if it is missing, and up to 100 entries of jobs that nobody holds go. The group
-- stands in line at once: whoever looks at it next knows better. True: something was wrong.
local function mend_book(id, record)
  local group, _, _, priority = group_of(record), options(record)
  if not group then return false end
  local due, mended = tonumber(call('ZSCORE', grouped, id)), 0
  if due and not call('ZSCORE', groups, first_as(group, due, id)) then mended = call('ZADD', groups, 0, waits_as(group, priority, due, id)) end
  if call('ZSCORE', reserved, id) then call('ZADD', groups, 0, group .. '\nh' .. id) end
  for _, entry in ipairs(call('ZRANGEBYLEX', groups, '[' .. group .. '\nh', '(' .. group .. '\ni', 'LIMIT', 0, 100)) do
    if not call('ZSCORE', reserved, string.sub(entry, #group + 3)) then mended = mended + call('ZREM', groups, entry) end
  end
  line_up(group, now)
  return mended > 0
end
