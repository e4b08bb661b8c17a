-- lib/bucket.lua: the ledger's field that counts jobs handed out so late (ms): two buckets per doubling.
local function late_field(late)
  local mantissa, exponent = math.frexp(late > 0 and late + 1 or 1)
  return 'late' .. 2 * exponent - (mantissa < 0.70710678118654752 and 2 or 1)
end
