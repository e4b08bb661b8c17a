-- stats.lua: counts, ages and counters of a queue.
-- KEYS    all
-- ARGV[1] clock offset (µs)
-- Returns {"STATS", now, delayed, ready, reserved, buried, records, oldest ready due or '', next due or '', paused 0|1, blocked, counter, value, …}
--       | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(G log N + number of counters) for up to 100 groups
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
local ready, delayed, blocked, due_of_groups, oldest, soonest = 0, 0, 0, 0, nil, nil
local function first(key, low, high)
  return tonumber(call('ZRANGEBYSCORE', key, low, high, 'WITHSCORES', 'LIMIT', 0, 1)[2])
end
for _, key in ipairs({ waiting, prioritized, grouped }) do
  local due_now = call('ZCOUNT', key, '-inf', int(now))
  ready, delayed = ready + due_now, delayed + call('ZCARD', key) - due_now
  local due, ahead = first(key, '-inf', int(now)), first(key, '(' .. int(now), '+inf')
  if due and key ~= grouped and (not oldest or due < oldest) then oldest = due end
  due_of_groups = key == grouped and due_now or 0
  if ahead and (not soonest or ahead < soonest) then soonest = ahead end
end
if due_of_groups > 0 then
  --@include servable
  local many, first_due = servable()
  blocked = math.max(0, due_of_groups - many)
  if first_due and (not oldest or first_due < oldest) then oldest = first_due end
end
local is_paused = pause_end() and 1 or 0
local reply = {
  'STATS', int(now), delayed, ready, call('ZCARD', reserved), call('ZCARD', buried), call('HLEN', jobs),
  oldest and int(oldest) or '', soonest and int(soonest) or '', is_paused, blocked,
}
for _, value in ipairs(call('HGETALL', meta)) do reply[#reply + 1] = value end
return reply
