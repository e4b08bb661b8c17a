-- lib/lateness.lua: how late these jobs are handed out: bucket → how many.
--@include bucket
--@include due
local function lateness(records, pasts)
  local counts = {}
  for n, record in ipairs(records) do
    local past = pasts and pasts[n]
    local due = past and #past >= 26 and struct.unpack('>I6', past, 21) or unpack_due(record)
    local bucket = bucket_of(now - due)
    counts[bucket] = (counts[bucket] or 0) + 1
  end
  return counts
end
