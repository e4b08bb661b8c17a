-- ack.lua: jobs are done, or failed for good: remove them.
-- KEYS[1] jobs  HASH  id → record     KEYS[2] reserved  ZSET  id → deadline (µs)   KEYS[3] leases  HASH  id → lease
-- KEYS[4] meta  HASH  counters        KEYS[5] history   HASH  id → past
-- KEYS[6] waiters ZSET  waiter → when it looks by itself (µs)   KEYS[7] groups ZSET  the books   KEYS[8] line ZSET  group → moment (µs)
-- KEYS[9] limits HASH  group → limits: these four only where a lease has the mark g or l
-- ARGV[1] clock offset (µs)   ARGV[2] outcome of the runs: acked or failed   ARGV[3] a consumer that has had the answer to its last reserve, or ''
-- ARGV[4] the buckets of the run times, two digits for each job, or two for all   ARGV[5…] in pairs: id · lease
-- Returns {"OK", lost} lost: the positions of those that are not ours any more, as text
-- Cost    O(J log N) for J jobs; 6 commands, 1 more where a job came back before, 1 for each further bucket of run times, 1 for failed jobs; of groups
--         four more, and one for each that is limited
local call, ARGV, outcome, consumer, runs, from, lost = redis.call, ARGV, ARGV[2], ARGV[3], ARGV[4], 5, ''
local jobs, reserved, leases, meta, history = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
if ARGV[from] then
  --@include acknowledge
  if is_marked then
    --@include clock
    local waiters, groups, line, limits = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
    --@include ends
    --@include wake
    if end_jobs(ids, held) then wake(now) end
  elseif ids[1] then
    --@include done
  end
  if ids[1] then
    --@include count_runs
    if outcome == 'failed' then call('HINCRBY', meta, 'given_up', #ids) end
  end
end
if consumer ~= '' then call('HDEL', leases, '\n' .. consumer) end
return { 'OK', lost }
