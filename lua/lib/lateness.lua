-- lib/lateness.lua: how late these jobs are handed out: field of the ledger → how many.
--@include bucket
local function lateness(records, pasts)
  local counts = {}
  for n, record in ipairs(records) do
    local past = pasts and pasts[n]
    local due = past and #past >= 26 and struct.unpack('>I6', past, 21) or struct.unpack('>I6', record, 8)
    local field = late_field(now - due)
    counts[field] = (counts[field] or 0) + 1
  end
  return counts
end
