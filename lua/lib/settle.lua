-- lib/settle.lua: acknowledges the ARGV[from + 1] tokens from ARGV[from] of one slot. Code for the body of a loop, not a function: on
-- the hot path a closure costs more than its work. Takes slot and its record; adds tokens that are not there (any more) to `lost`
-- and the number of removed jobs to `acked`; sets `kept` to the record that is left, if any. The slot goes first, and comes back
-- when the records cannot go.
local first, many = ARGV[from] + 0, ARGV[from + 1] + 0
local done, kept, deadline, is_whole = {}, nil, nil, false
local has_history, held_count, held_token = 1, 0, nil
if record and #record >= 19 then
  has_history, held_count, deadline, held_token = struct.unpack('>BI2I6I6', record, 5)
  is_whole = held_count == many and held_token == first
end
if is_whole then -- as usual
  local ids = { pcall(struct.unpack, string.rep('s', many), record, 20) }
  is_whole = ids[1] -- or it has fewer than it says: none of ours
  for n = 1, is_whole and many or 0 do done[n] = ids[n + 1] end
end
if not is_whole then
  --@include lease
  local left = {}
  lost = lost or {}
  local entries, at = entries_of(record), first
  for _, entry in ipairs(entries) do -- both go up
    if entry.token < first or entry.token >= first + many then
      left[#left + 1] = entry
    else
      while at < entry.token do lost[#lost + 1], at = at, at + 1 end
      done[#done + 1], at = entry.id, at + 1
    end
  end
  while at < first + many do lost[#lost + 1], at = at, at + 1 end
  if left[1] then kept, deadline = slot_of(string.sub(record, 1, 5), left) end
end
if done[1] then
  if has_history % 2 == 1 then call('HLEN', history) end -- as in lib/probe.lua
  local score = not kept and call('ZSCORE', reserved, slot)
  call('ZREM', reserved, kept and '' or slot) -- also unlocks (lib/unlock.lua)
  if type(try('HDEL', jobs, unpack(done))) == 'table' then
    if score then call('ZADD', reserved, score, slot) end
    call('HDEL', jobs, unpack(done)) -- fails again, and says why
  end
  if has_history % 2 == 1 then call('HDEL', history, unpack(done)) end
  if kept then
    call('HSET', ledger, '@' .. slot, kept)
    call('ZADD', reserved, int(deadline), slot)
  else
    call('HDEL', ledger, '@' .. slot)
  end
  acked = acked + #done
end
