-- lib/bucket.lua: the bucket of a time (µs) in a histogram: two for each doubling of the milliseconds.
local function bucket_of(us)
  local mantissa, exponent = math.frexp((us > 0 and us or 0) / 1000 + 1)
  return 2 * exponent - (mantissa < 0.70710678118654752 and 2 or 1)
end
