-- lib/lease.lua: a lease is an entry in `reserved` and the text "token due consumer" in `leases`, which proves it. A plus sign behind it says
-- that the job has a history. A minus sign before the due time says that the job was buried, since then.
-- The due time that the job had, as a number, the consumer, and whether it was buried.
local function read_lease(lease)
  local due, consumer = string.match(lease or '', '^%d+ (%S+) ([^+]*)')
  due = tonumber(due) or now
  return math.abs(due), consumer, due < 0
end
local function end_lease(id)
  call('ZREM', reserved, id)
  call('HDEL', leases, id)
end
-- The consumer has had the answer to its last reserve: a repeat will not ask to give its jobs back. '': the client cannot tell.
local function forget_call(consumer)
  if consumer ~= '' then call('HDEL', leases, '\n' .. consumer) end
end
