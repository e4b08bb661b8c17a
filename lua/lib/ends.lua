-- lib/ends.lua: the one place where jobs leave RESERVED, and where they leave the queue. `held`: their leases, or false, in the order of ids.
--@include marks
-- The jobs lie in another place by now, or have ended. True: a group, or the queue, has room again, and perhaps a job for it.
local function end_leases(ids, held)
  local is_let_in, entries, names = false, nil, {}
  for n, id in ipairs(ids) do
    local marks = held[n] and marks_of(held[n])
    if marks and string.find(marks, 'l', 1, true) then is_let_in = true end
    if marks and string.find(marks, 'g', 1, true) then
      local group = leased_group(held[n])
      entries = entries or {}
      entries[#entries + 1] = group .. '\nh' .. id
      if not names[group] then names[#names + 1], names[group] = group, true end
    end
  end
  -- First the place in line, which may be too early, then that in the book: a failure leaves room for too many rather than for none.
  if entries then
    --@include let_in
    is_let_in = let_in(names) or is_let_in
    call('ZREM', groups, unpack(entries))
  end
  call('ZREM', reserved, unpack(ids))
  call('HDEL', leases, unpack(ids))
  return is_let_in
end
-- The records go before the places: an entry without a record means nothing. A job without marks has no history, unless nobody holds it.
local function end_jobs(ids, held)
  local aged = {}
  for n, id in ipairs(ids) do
    local marks = not held[n] and 'h' or marks_of(held[n])
    if marks and string.find(marks, '[hb]') then aged[#aged + 1] = id end
  end
  call('HDEL', jobs, unpack(ids))
  if aged[1] then call('HDEL', history, unpack(aged)) end
  return end_leases(ids, held)
end
