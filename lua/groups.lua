-- groups.lua: names of groups that have waiting or reserved jobs, in the order of their bytes.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] how many, at most 200   ARGV[3] the name behind which to begin, or ''
-- Returns {"OK", name, …} fewer than asked for: there are no more
-- Cost    O(L log N) for L names
--@include clock
--@include keys
--@include check_schema
local reply, from = { 'OK' }, ARGV[3] == '' and '-' or '(' .. ARGV[3] .. '\nx'
while #reply <= ARGV[2] + 0 do
  local entry = call('ZRANGEBYLEX', groups, from, '+', 'LIMIT', 0, 1)[1]
  if not entry then break end
  local name = string.match(entry, '^[^\n]*')
  reply[#reply + 1], from = name, '(' .. name .. '\nx'
end
return reply
