-- ack.lua: jobs are done: remove them.
-- KEYS[1] jobs      HASH  id → record           KEYS[2] reserved  ZSET  slot → deadline (ms)
-- KEYS[3] ledger    HASH  '@'+slot → leases     KEYS[4] history   HASH  id → what happened before
-- ARGV[1…] in threes: slot · first token · how many tokens
-- Returns {"OK", lost} lost: the tokens that are not ours any more
-- Cost    O(T log N) for T tokens; 6 commands for one slot, 8 when a job in it came back before
-- Order   see lib/settle.lua: an error before the records are gone changes nothing.
local call, try = redis.call, redis.pcall
local jobs, reserved, ledger, history = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local function int(number) return string.format('%d', number) end
local lost, acked = nil, 0
if ARGV[4] then call('HLEN', history) end -- several: as in lib/probe.lua
for from = 2, #ARGV, 3 do
  local slot = ARGV[from - 1]
  local record = call('HGET', ledger, '@' .. slot)
  --@include settle
end
if acked > 0 then call('HINCRBY', ledger, 'acked', acked) end
return { 'OK', lost or {} }
