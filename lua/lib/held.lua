-- lib/held.lua: finds leases by job id: there is no index for that, since only rare operations ask. Looks through 200
-- slots from rank `from`; calls found(id, slot, entry) for each wanted id. Returns the next rank, or nil at the end.
-- What was leased unseen and is not the job of that id does not hold it.
local function held(wanted, from, found)
  local slots = call('ZRANGE', reserved, from, from + 199)
  for _, slot in ipairs(slots) do
    local record = call('HGET', ledger, '@' .. slot)
    for _, entry in ipairs(entries_of(record)) do
      if wanted[entry.id] and (not entry.stamp or record_of(entry)) then found(entry.id, slot, entry) end
    end
  end
  if #slots == 200 then return from + 200 end
end
