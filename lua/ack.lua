-- ack.lua: jobs are done, or failed for good: remove them.
-- KEYS[1] jobs  HASH  id → record     KEYS[2] reserved  ZSET  id → deadline (µs)   KEYS[3] leases  HASH  id → lease
-- KEYS[4] meta  HASH  counters        KEYS[5] history   HASH  id → past
-- ARGV[1] outcome of the runs: acked or failed   ARGV[2] the buckets of the run times, two digits for each job, or two for all
-- ARGV[3…] in pairs: id · lease; then, if there is one more, a consumer that has had the answer to its last reserve
-- Returns {"OK", lost} lost: the positions of those that are not ours any more
-- Cost    O(J log N) for J jobs; 6 commands, 1 more where a job came back before, 1 for each further bucket of run times, 1 for failed jobs
local call = redis.call
local jobs, reserved, leases, meta, history = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
--@include ends
--@include acknowledge
local lost = acknowledge(ARGV[1], ARGV[2], 3)
if ARGV[1] == 'failed' then
  local ended = math.floor(#ARGV / 2) - 1 - #lost
  if ended > 0 then call('HINCRBY', meta, 'given_up', ended) end
end
if #ARGV % 2 == 1 then call('HDEL', leases, '\n' .. ARGV[#ARGV]) end
return { 'OK', lost }
