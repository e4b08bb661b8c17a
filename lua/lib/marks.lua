-- lib/marks.lua: reads the marks of a lease, and the group behind it.
-- The third word, or nil where there are none. A pattern would cost as much as the rest of an acknowledgement.
local function marks_of(lease)
  local before = string.find(lease, ' ', (string.find(lease, ' ', 1, true) or 0) + 1, true)
  if not before or string.byte(lease, before + 1) == 45 then return nil end
  return string.sub(lease, before + 1, (string.find(lease, ' ', before + 1, true) or 0) - 1)
end
local function leased_group(lease) return string.match(lease, '^%S+ %S+ %S+ %S+ (.*)$') or '' end
