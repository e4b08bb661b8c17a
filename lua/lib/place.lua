-- lib/place.lua: where waiting jobs are, delayed and ready alike. Those of groups: `grouped`, and a book (lib/book.lua). Others of default priority:
-- `waiting`. The rest: `prioritized`; the first of them, as many as `prioritized_ready` has, are in that too, by priority and due time.
--@include book
-- Eight bytes hold more numbers than a double does: a time that another program has put there need not survive.
local function ready_member(due, id) return struct.pack('>I8', math.min(math.max(due, 0), 9007199254740991)) .. id end

-- The due time of a waiting job, and the key where it is; or nil. `is_new`: it has no record, so that an entry in a book would mean nothing.
local function waits(id, is_new)
  local due = call('ZSCORE', waiting, id)
  if due then return due + 0, waiting end
  due = call('ZSCORE', prioritized, id)
  if due then return due + 0, prioritized end
  due = not is_new and call('ZSCORE', grouped, id)
  if due then return due + 0, grouped end
end
-- `record`: of a job that is in `grouped`, as it was when it got there. True: it held up its group, of which another job may be served now.
local function unplace(id, due, where, record)
  if where == prioritized then call('ZREM', prioritized_ready, ready_member(due, id)) end
  local is_opened = where == grouped and strike(id, due, record)
  call('ZREM', where, id)
  return is_opened
end
-- Puts a job where it waits from now on. `group`: its own, or nil. `old_due`: it waits already, since then at `where`, as `old_record`, which only a
-- job that is in `grouped` needs. True: it held up its group, of which another job may be served now.
local function place(id, priority, due, group, old_due, where, old_record)
  if where == prioritized then call('ZREM', prioritized_ready, ready_member(old_due, id)) end
  local key, entry = waiting, nil
  if group then
    key, entry = grouped, waits_as(group, priority, due, id)
    enter(group, id, due, entry)
  else
    if priority ~= DEFAULT_PRIORITY then key = prioritized end
    local ready = key == prioritized and call('ZCARD', prioritized_ready) -- before it is placed: it may be of a wrong type
    call('ZADD', key, int(due), id)
    if ready and call('ZRANK', prioritized, id) < ready then
      call('ZADD', prioritized_ready, int(priority), ready_member(due, id))
    end
  end
  local is_opened = where == grouped and strike(id, old_due, old_record, entry)
  if where and where ~= key then call('ZREM', where, id) end
  return is_opened
end
