-- forget.lua: delete what is left of a queue that is empty and unused: its counters, and waiters that have died.
-- KEYS    all; KEYS[16] recent ZSET  id → until when it is taken (µs)   KEYS[17] receipts ZSET  receipt → when it was given (µs)
-- ARGV[1] clock offset (µs)
-- Returns "OK" no key is left | "USED" jobs and counters are as they were: there are jobs or receipts, an id is taken for some time, a waiter lives,
--         the queue or a group is paused, or has limits
--       | {"AGAIN"} a bounded part of the dead waiters is off
-- Cost    O(log N) for each of up to 100 dead waiters, and the counters
--@include clock
--@include keys
--@include pause_end
--@include wake
--@include recent
--@include check_types
--@include check_group_types
local receipts = KEYS[17]
if pause_end() or call('HLEN', jobs) > 0 then return 'USED' end
if call('HLEN', limits) > 0 or call('ZCOUNT', spent, '(' .. int(now), '+inf') > 0 then return 'USED' end
if call('ZCARD', receipts) > 0 or call('ZCOUNT', recent, '(' .. int(now), '+inf') > 0 then return 'USED' end
-- An entry without a record may be one whose record a script with too few rights has yet to write.
for _, key in ipairs({ waiting, prioritized, reserved, buried, grouped, groups }) do
  if call('ZCARD', key) > 0 then return 'USED' end
end
if is_covered(math.huge, 0) then return 'USED' end
if call('ZCARD', waiters) > 0 then return { 'AGAIN' } end
call('UNLINK', unpack(KEYS))
return 'OK'
