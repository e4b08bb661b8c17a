-- lib/remove.lua: the end of jobs in any state.
--@include ends
--@include lease
--@include forget_calls
local function remove(ids)
  local dues = call('ZMSCORE', prioritized, unpack(ids))
  local held = call('HMGET', leases, unpack(ids))
  end_jobs(ids, held)
  forget_calls(held)
  for n, id in ipairs(ids) do
    if dues[n] then call('ZREM', prioritized_ready, ready_member(dues[n] + 0, id)) end
  end
  for _, key in ipairs({ waiting, prioritized, buried }) do call('ZREM', key, unpack(ids)) end
  local told = {}
  -- A worker that listens asks at once which of its leases are gone. This never fails the operation.
  for _, lease in ipairs(held) do
    local _, consumer = read_lease(lease)
    if consumer and not told[consumer] then try('PUBLISH', waiters .. ':' .. consumer, '0') end
    told[consumer or ''] = true
  end
end
