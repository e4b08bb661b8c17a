-- lib/book.lua: the entries of waiting jobs in `groups`, which is the books of all groups. It is told to a group's place in `line`, too: that may be
-- too early, which costs a look, but never too late.
local function moment_text(due) return struct.pack('>I8', math.min(math.max(due, 0), 9007199254740991)) end
local function waits_as(group, priority, due, id) return group .. '\nw' .. struct.pack('>I4', priority) .. moment_text(due) .. id end
-- A job that came back in an ordered group: the first of it, until it has ended.
local function first_as(group, due, id) return group .. '\nr' .. moment_text(due) .. id end

local function line_up(group, at) call('ZADD', line, 'LT', int(math.max(at, now)), group) end
-- The entry comes last: without it nothing is served.
local function enter(group, id, due, entry)
  line_up(group, due)
  call('ZCARD', groups) -- of a wrong type it must show before the job is in `grouped`
  call('ZADD', grouped, int(due), id)
  call('ZADD', groups, 0, entry)
end
-- Takes out the entry of a job that waits, or waited, as this record, unless it is `kept`. True: it was the first, and held up its group.
local function strike(id, due, record, kept)
  local group, _, _, priority = group_of(record or ''), options(record or '')
  if not group then return false end
  local entry = waits_as(group, priority, due, id)
  if entry ~= kept and call('ZREM', groups, entry) == 1 then return false end
  line_up(group, now)
  return call('ZREM', groups, first_as(group, due, id)) == 1
end
