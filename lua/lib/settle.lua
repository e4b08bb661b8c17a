-- lib/settle.lua: acknowledges the `count` tokens at ARGV[from…] of one slot; tokens that are not there (any more) are
-- added to `lost`. Returns how many jobs were removed, and whether the slot is empty now. The record goes first: a lease
-- without a record ends by itself. With `reuse` an empty slot is left for the caller to overwrite.
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
    call('HDEL', jobs, unpack(ids))
    if old[1] then call('HDEL', history, unpack(old)) end
    if kept[1] then
      --@include lease
      store_slot(slot, string.sub(record, 1, 4) .. table.concat(kept))
    elseif not reuse then
      call('HDEL', ledger, '@' .. slot)
      call('ZREM', reserved, slot)
    end
  end
  for i = from, from + count - 1 do
    if wanted[ARGV[i]] then lost[#lost + 1] = ARGV[i] end
  end
  return #ids, not kept[1]
end
