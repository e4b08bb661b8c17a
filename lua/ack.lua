-- ack.lua: jobs are done: remove them.
-- KEYS[1] jobs      HASH  id → record           KEYS[2] reserved  ZSET  slot → earliest deadline (ms)
-- KEYS[3] ledger    HASH  '@'+slot → leases     KEYS[4] history   HASH  id → what happened before
-- ARGV[1…] per slot: slot · number of tokens · the tokens (6 bytes each)
-- Returns {"OK", acked, token, …}: the tokens that are no longer ours follow
-- Cost    O(T log N) for T tokens; 5 commands for one slot, 7 when a job in it came back before
-- Order   see lib/settle.lua: an error before the records are gone changes nothing.
local call, try = redis.call, redis.pcall
local jobs, reserved, ledger, history = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local function int(number) return string.format('%.0f', number) end
--@include settle
local reply, acked, at = { 'OK', 0 }, 0, 1
if ARGV[ARGV[2] + 3] then call('HLEN', history) end -- several slots: as in lib/probe.lua
while ARGV[at] do
  local slot, count = ARGV[at], tonumber(ARGV[at + 1])
  acked = acked + (settle(slot, call('HGET', ledger, '@' .. slot), at + 2, count, reply))
  at = at + 2 + count
end
if acked > 0 then call('HINCRBY', ledger, 'acked', acked) end
reply[2] = acked
return reply
