-- lib/less.lua: whether Redis puts one member before another of the same score: byte by byte. Lua would go by the locale of the server.
local function is_less(a, b)
  for n = 1, math.min(#a, #b) do
    local mine, other = string.byte(a, n), string.byte(b, n)
    if mine ~= other then return mine < other end
  end
  return #a < #b
end
