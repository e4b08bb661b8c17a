-- lib/answer.lua: the answer of a reserve in full.
local function answer(leases, records, pasts, lost)
  local values = { 'JOBS', leases, unpack(records) }
  local at = #records + 2
  values[at + 1], values[at + 2], values[at + 3] = pasts, lost, now
  return values
end
