-- lib/remove.lua: the end of jobs in any state.
--@include ends
--@include lease
--@include forget_calls
--@include wake
local function remove(ids)
  local dues, in_groups = call('ZMSCORE', prioritized, unpack(ids)), call('ZMSCORE', grouped, unpack(ids))
  local held, records, touched = call('HMGET', leases, unpack(ids)), {}, {}
  for n, id in ipairs(ids) do records[n] = in_groups[n] and call('HGET', jobs, id) end
  local is_let_in = end_jobs(ids, held)
  forget_calls(held)
  for n, id in ipairs(ids) do
    if dues[n] then call('ZREM', prioritized_ready, ready_member(dues[n] + 0, id)) end
    if records[n] then
      is_let_in = strike(id, in_groups[n] + 0, records[n]) or is_let_in
      call('ZREM', grouped, id) -- at once: nobody would meet it any more, should the next entry stay
      local group = group_of(records[n])
      if group then touched[group] = true end
    end
  end
  for group in pairs(touched) do
    local left = try('ZRANGEBYLEX', groups, '[' .. group .. '\n', '(' .. group .. '\v', 'LIMIT', 0, 1)
    if left and not left.err and not left[1] then
      -- Its place may be years ahead: until then no reserve would meet the empty group, and end its turn. Nothing is lost where this fails.
      try('ZREM', line, group)
      try('HDEL', limits, group .. '\n')
    end
  end
  for _, key in ipairs({ waiting, prioritized, grouped, buried }) do call('ZREM', key, unpack(ids)) end
  if is_let_in then
    wake(now)
  end
  local told = {}
  -- A worker that listens asks at once which of its leases are gone. This never fails the operation.
  for _, lease in ipairs(held) do
    local _, consumer = read_lease(lease)
    if consumer and not told[consumer] then try('PUBLISH', waiters .. ':' .. consumer, '0') end
    told[consumer or ''] = true
  end
end
