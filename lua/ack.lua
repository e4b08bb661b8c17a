-- ack.lua: jobs are done, or failed for good: remove them.
-- KEYS[1] jobs  HASH  id → record     KEYS[2] reserved  ZSET  id → deadline (µs)   KEYS[3] leases  HASH  id → lease
-- KEYS[4] meta  HASH  counters        KEYS[5] history   HASH  id → past
-- KEYS[6] waiters ZSET  waiter → when it looks by itself (µs)   KEYS[7] groups ZSET  the books   KEYS[8] line ZSET  group → moment (µs)
-- KEYS[9] limits HASH  group → limits: these four only where a lease has the mark g or l
-- ARGV[1] outcome of the runs: acked or failed   ARGV[2] the buckets of the run times, two digits for each job, or two for all
-- ARGV[3…] with these keys first the clock offset (µs); in pairs: id · lease; then, if there is one more, a consumer that has had the answer to
--         its last reserve
-- Returns {"OK", lost} lost: the positions of those that are not ours any more
-- Cost    O(J log N) for J jobs; 6 commands, 1 more where a job came back before, 1 for each further bucket of run times, 1 for failed jobs; of groups
--         four more, and one for each that is limited
local call, from, try, now, int = redis.call, 3, nil, nil, nil
local jobs, reserved, leases, meta, history = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local waiters, groups, line, limits = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
if waiters then
  try, int = redis.pcall, function(number) return string.format('%d', number) end
  local time = call('TIME')
  now, from = time[1] * 1000000 + time[2] + ARGV[3], 4
end
--@include ends
--@include acknowledge
local lost, is_let_in = acknowledge(ARGV[1], ARGV[2], from)
if ARGV[1] == 'failed' then
  local ended = math.floor((#ARGV - from + 1) / 2) - #lost
  if ended > 0 then call('HINCRBY', meta, 'given_up', ended) end
end
if (#ARGV - from) % 2 == 0 then call('HDEL', leases, '\n' .. ARGV[#ARGV]) end
if is_let_in then
  --@include wake
  wake(now)
end
return { 'OK', lost }
