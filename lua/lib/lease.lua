-- lib/lease.lua: a lease is an entry in `reserved` and the text "marks token due consumer" in `leases`, which proves it; of a group's job
-- with a space and the group behind. Marks are letters, or '-' where there are none: b it was buried, since `due`; h it has a history; g it is of
-- a group; l the queue has limits; a, the last one: it was leased behind another one, by the same call.
-- The due time that the job had, as a number, the consumer, whether it was buried, and the marks.
local function read_lease(lease)
  local marks, due, consumer = string.match(lease or '', '^(%S+) %S+ (%S+) (%S+)')
  return tonumber(due) or now, consumer, marks and string.find(marks, 'b', 1, true), marks or ''
end
-- The consumer has had the answer to its last reserve: a repeat will not ask to give its jobs back. '': the client cannot tell.
local function forget_call(consumer)
  if consumer ~= '' then call('HDEL', leases, '\n' .. consumer) end
end
