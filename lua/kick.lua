-- kick.lua: up to 200 buried jobs become ready, oldest first.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] how many   ARGV[3] 1: attempts start anew
-- Returns {"OK", kicked, looked}: fewer looked at than asked for: no buried job is left
-- Cost    O(K log N)
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include kick
--@include probe
local ids = call('ZRANGE', buried, 0, math.min(ARGV[2] + 0, 200) - 1)
local kicked = 0
for _, id in ipairs(ids) do
  if kick(id, ARGV[3] == '1') then kicked = kicked + 1 end
end
if kicked > 0 then
  --@include wake
  wake(now)
end
return { 'OK', kicked, #ids }
