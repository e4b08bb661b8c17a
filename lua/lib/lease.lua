-- lib/lease.lua: a lease is an entry in `reserved` and the text "token due consumer" in `leases`, which proves it. A plus sign behind it says
-- that the job has a history.
-- The due time that the job had, as a number, and the consumer.
local function read_lease(lease)
  local due, consumer = string.match(lease or '', '^%d+ (%S+) ([^+]*)')
  return tonumber(due) or now, consumer
end
local function end_lease(id)
  call('ZREM', reserved, id)
  call('HDEL', leases, id)
end
-- The consumer has had the answer to its last reserve: a repeat will not ask to give its jobs back. '': the client cannot tell.
local function forget_call(consumer)
  if consumer ~= '' then call('HDEL', leases, '\n' .. consumer) end
end
