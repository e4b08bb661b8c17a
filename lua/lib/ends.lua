-- lib/ends.lua: how jobs leave RESERVED, and leave the queue; where no group or limit counts them, lib/done.lua does that. `held`: their leases, or false, in the order of ids.
-- The jobs lie in another place by now, or have ended, and are gone. True: a group, or the queue, has room again, and perhaps a job for it.
--@include let_in
local function end_leases(ids, held, are_gone)
  local aged, entries, names, is_capped = {}, nil, nil, false
  for n, id in ipairs(ids) do
    local lease = held[n]
    local marks = lease and string.match(lease, '^%S*') or 'h'
    if string.find(marks, '[hb]') then aged[#aged + 1] = id end
    is_capped = is_capped or string.find(marks, 'l', 1, true) ~= nil
    if string.find(marks, 'g', 1, true) then
      local group = string.match(lease, '^%S+ %S+ %S+ %S+ (.*)$') or ''
      entries, names = entries or {}, names or {}
      entries[#entries + 1] = group .. '\nh' .. id
      if not names[group] then names[#names + 1], names[group] = group, true end
    end
  end
  if are_gone then
    -- The records go before the places: an entry without a record means nothing. A job without marks has no history, unless nobody holds it.
    call('HDEL', jobs, unpack(ids))
    if aged[1] then call('HDEL', history, unpack(aged)) end
  end
  -- First the place in line, which may be too early, then that in the book: a failure leaves room for too many rather than for none.
  local is_let_in = is_capped
  if entries then
    is_let_in = let_in(names) or is_capped
    call('ZREM', groups, unpack(entries))
  end
  call('ZREM', reserved, unpack(ids))
  call('HDEL', leases, unpack(ids))
  return is_let_in
end
local function end_jobs(ids, held) return end_leases(ids, held, true) end
