-- lib/settle.lua: acknowledges tokens of one slot, given as `ranges` ranges at ARGV[from…]: first token · how many. Code for the
-- body of a loop, not a function: on the hot path a closure costs more than its work. Takes slot, record, from, ranges, reuse
-- (an empty slot is left for the caller to overwrite), lost; adds tokens that are not there (any more) to `lost` and the number
-- of removed jobs to `acked`; sets `is_empty`. The slot goes first, and comes back when the records cannot go.
local ids, kept, deadline, is_whole = {}, nil, nil, false
local has_history, count, token = 1, 0, nil
if record and #record >= 19 then
  has_history, count, deadline, token = struct.unpack('>BI2I6I6', record, 5)
  is_whole = ranges == 1 and count > 0 and ARGV[from] + 0 == token and ARGV[from + 1] + 0 == count
end
if is_whole then -- as usual
  local at = 20
  for n = 1, count - 1 do
    local stop = string.find(record, '\n', at, true)
    ids[n], at = string.sub(record, at, stop - 1), stop + 1
  end
  ids[count] = string.sub(record, at)
else
  --@include lease
  local by_token, left = {}, {}
  local entries = entries_of(record)
  for _, entry in ipairs(entries) do by_token[entry.token] = entry end
  for n = from, from + 2 * ranges - 2, 2 do
    for wanted = ARGV[n] + 0, ARGV[n] + ARGV[n + 1] - 1 do
      local entry = by_token[wanted]
      by_token[wanted] = nil
      if entry then ids[#ids + 1], entry.is_done = entry.id, true else lost[#lost + 1] = int(wanted) end
    end
  end
  for _, entry in ipairs(entries) do
    if not entry.is_done then left[#left + 1] = entry end
  end
  if left[1] then kept, deadline = slot_of(string.sub(record, 1, 5), left) end
end
is_empty = not kept
if ids[1] then
  if has_history == 1 then call('HLEN', history) end -- as in lib/probe.lua
  local leaves = not kept and not reuse
  local score = leaves and call('ZSCORE', reserved, slot)
  if leaves or kept then call('ZREM', reserved, leaves and slot or '') end -- also unlocks (lib/unlock.lua)
  if type(try('HDEL', jobs, unpack(ids))) == 'table' then
    if score then call('ZADD', reserved, score, slot) end
    call('HDEL', jobs, unpack(ids)) -- fails again, and says why
  end
  if has_history == 1 then call('HDEL', history, unpack(ids)) end
  if kept then
    call('HSET', ledger, '@' .. slot, kept)
    call('ZADD', reserved, int(deadline), slot)
  elseif leaves then
    call('HDEL', ledger, '@' .. slot)
  end
  acked = acked + #ids
end
