-- group_stats.lua: what there is of a group.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] group
-- Returns {"OK", waiting, reserved, the moment from which it may be its turn or '', closed until or '', 1 if it is closed now}
--       | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log N)
--@include clock
--@include keys
--@include check_schema
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
if reclaim(true) then return { 'AGAIN' } end
local group = ARGV[2]
local turn, closed = tonumber(call('ZSCORE', line, group)), tonumber(call('ZSCORE', spent, group .. '\n')) or 0
local waits = call('ZLEXCOUNT', groups, '[' .. group .. '\nr', '(' .. group .. '\nx')
if turn and closed > now then turn = math.max(turn, closed) end
if waits == 0 then turn = nil end
return {
  'OK', waits, call('ZLEXCOUNT', groups, '[' .. group .. '\nh', '(' .. group .. '\ni'),
  turn and turn < math.huge and int(turn) or '', closed > now and closed < math.huge and int(closed) or '', closed > now and 1 or 0,
}
