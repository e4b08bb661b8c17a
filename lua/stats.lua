-- stats.lua: counts, ages and counters of a queue.
-- KEYS    all
-- ARGV[1] clock offset (ms)
-- Returns {"STATS", now, delayed, ready, reserved, buried, oldest ready due or '', next due or '', paused 0|1, {counter, value, …}}
--       | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log N + number of ledger fields looked at)
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include lease
--@include reclaim
if reclaim() then return { 'AGAIN' } end
local now_text = int(now)
local ready_count = call('ZCOUNT', waiting, '-inf', now_text) + call('ZCARD', ripe) + call('ZCOUNT', later, '-inf', now_text)
local total_waiting = call('ZCARD', waiting) + call('ZCARD', ripe) + call('ZCARD', later)
local set_aside_count = call('ZCARD', buried)
local oldest, next_due
for _, key in ipairs({ waiting, ripe, later }) do
  local head = call('ZRANGEBYSCORE', key, '-inf', now_text, 'WITHSCORES', 'LIMIT', 0, 1)[2]
  if head and (not oldest or head + 0 < oldest) then oldest = head + 0 end
  local ahead = call('ZRANGEBYSCORE', key, '(' .. now_text, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  if ahead and (not next_due or ahead + 0 < next_due) then next_due = ahead + 0 end
end
local names = { 'acked', 'failed', 'timed_out', 'cancelled', 'replaced', 'paused' }
for bucket = 0, 90 do names[#names + 1] = 'late' .. bucket end
local values, counters = call('HMGET', ledger, unpack(names)), {}
local _, _, acknowledged = read_head()
values[1] = int((values[1] or 0) + acknowledged)
if #uncounted >= 5 then
  local bucket, many = struct.unpack('>BI4', uncounted)
  values[bucket + 7] = int((values[bucket + 7] or 0) + many)
end
for n = 1, #names do
  if values[n] then counters[#counters + 1], counters[#counters + 2] = names[n], values[n] end
end
local paused = values[6]
local is_paused = paused and (paused == 'forever' or paused + 0 > now)
local held_count = math.max(0, call('HLEN', jobs) - total_waiting - set_aside_count)
return {
  'STATS', now_text, total_waiting - ready_count, ready_count, held_count, set_aside_count,
  oldest and int(oldest) or '', next_due and int(next_due) or '', is_paused and 1 or 0, counters,
}
