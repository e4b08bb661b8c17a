-- stats.lua: counts, ages and counters of a queue.
-- KEYS    all
-- ARGV[1] clock offset (µs)
-- Returns {"STATS", now, delayed, ready, reserved, buried, records, oldest ready due or '', next due or '', paused 0|1, blocked, counter, value, …}
--       | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log N + number of counters)
--@include clock
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
--@include pause_end
if reclaim(true) then return { 'AGAIN' } end
local ready, delayed, oldest, soonest = 0, 0, nil, nil
local function first(key, low, high)
  return tonumber(call('ZRANGEBYSCORE', key, low, high, 'WITHSCORES', 'LIMIT', 0, 1)[2])
end
for _, key in ipairs({ waiting, prioritized }) do
  local due_now = call('ZCOUNT', key, '-inf', int(now))
  ready, delayed = ready + due_now, delayed + call('ZCARD', key) - due_now
  local due, ahead = first(key, '-inf', int(now)), first(key, '(' .. int(now), '+inf')
  if due and (not oldest or due < oldest) then oldest = due end
  if ahead and (not soonest or ahead < soonest) then soonest = ahead end
end
local is_paused = pause_end() and 1 or 0
local reply = {
  'STATS', int(now), delayed, ready, call('ZCARD', reserved), call('ZCARD', buried), call('HLEN', jobs),
  oldest and int(oldest) or '', soonest and int(soonest) or '', is_paused, 0,
}
for _, value in ipairs(call('HGETALL', meta)) do reply[#reply + 1] = value end
return reply
