-- lib/bucket.lua: in which field `late<bucket>` of the ledger jobs are counted that are handed out so late (ms): two per doubling.
local function bucket_of(late)
  local mantissa, exponent = math.frexp(late > 0 and late + 1 or 1)
  return 2 * exponent - (mantissa < 0.70710678118654752 and 2 or 1)
end
