-- touch.lua: leases start anew. One call renews everything that a worker holds.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] 1: no lease gets shorter (a heartbeat)   ARGV[3…] in threes: id · lease · TTR (ms)
-- Returns {"OK", deadline, …} one for each (µs); 0 where the job is not ours any more
-- Cost    O(J log N) for J jobs
--@include clock
--@include keys
local reply, soonest = { 'OK' }, nil
--@include allow_when_full
for n = 3, #ARGV, 3 do
  local id, deadline = ARGV[n], 0
  if call('HGET', leases, id) == ARGV[n + 1] and call('HEXISTS', jobs, id) == 1 then
    deadline = now + ARGV[n + 2] * 1000
    if ARGV[2] == '1' then deadline = math.max(deadline, call('ZSCORE', reserved, id) or 0) end
    call('ZADD', reserved, int(deadline), id)
    if not soonest or deadline < soonest then soonest = deadline end
  end
  reply[#reply + 1] = int(deadline)
end
if soonest then
  --@include wake
  wake(soonest) -- idle consumers may not check again before this lease ends
end
return reply
