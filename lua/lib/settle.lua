-- lib/settle.lua: acknowledges the `count` tokens at ARGV[from…] of one slot; tokens that are not there (any more) are
-- added to `lost`. Returns how many jobs were removed, and whether the slot is empty now. The slot goes first, and comes back
-- when the records cannot go. With `reuse` an empty slot is left for the caller to overwrite.
local function earliest(record)
  local first, at = nil, 5
  while at + 24 <= #record do
    local deadline = struct.unpack('>I6', record, at + 16)
    if not first or deadline < first then first = deadline end
    at = at + 24 + string.byte(record, at + 23)
  end
  return int(first)
end
local function settle(slot, record, from, count, lost, reuse)
  local wanted, kept, ids, old, at = {}, {}, {}, {}, 5
  for i = from, from + count - 1 do wanted[ARGV[i]] = true end
  while record and at + 24 <= #record do
    local after = at + 24 + string.byte(record, at + 23)
    local token = string.sub(record, at, at + 5)
    if wanted[token] then
      wanted[token] = nil
      local id = string.sub(record, at + 24, after - 1)
      ids[#ids + 1] = id
      if string.byte(record, at + 22) == 1 then old[#old + 1] = id end
    else
      kept[#kept + 1] = string.sub(record, at, after - 1)
    end
    at = after
  end
  if ids[1] then
    if old[1] then call('HLEN', history) end -- as in lib/probe.lua
    local leaves = not kept[1] and not reuse
    if leaves or kept[1] then call('ZREM', reserved, leaves and slot or '') end -- also unlocks (lib/unlock.lua)
    if type(try('HDEL', jobs, unpack(ids))) == 'table' then
      if leaves then call('ZADD', reserved, earliest(record), slot) end
      call('HDEL', jobs, unpack(ids)) -- fails again, and says why
    end
    if old[1] then call('HDEL', history, unpack(old)) end
    if kept[1] then
      local rest = string.sub(record, 1, 4) .. table.concat(kept)
      call('HSET', ledger, '@' .. slot, rest)
      local first = earliest(rest)
      if first ~= earliest(record) then call('ZADD', reserved, first, slot) end
    elseif leaves then
      call('HDEL', ledger, '@' .. slot)
    end
  end
  for i = from, from + count - 1 do
    if wanted[ARGV[i]] then lost[#lost + 1] = ARGV[i] end
  end
  return #ids, not kept[1]
end
