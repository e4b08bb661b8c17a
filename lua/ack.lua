-- ack.lua: jobs are done: remove them.
-- KEYS[1] jobs      HASH  id → record           KEYS[2] reserved  ZSET  slot → deadline (ms)
-- KEYS[3] ledger    HASH  '@'+slot → leases     KEYS[4] history   HASH  id → what happened before
-- ARGV[1…] per slot: slot · number of ranges of tokens · first token and how many of each
-- Returns {"OK", acked, lost} lost: the tokens that are not ours any more
-- Cost    O(T log N) for T tokens; 6 commands for one slot, 8 when a job in it came back before
-- Order   see lib/settle.lua: an error before the records are gone changes nothing.
local call, try = redis.call, redis.pcall
local jobs, reserved, ledger, history = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local function int(number) return string.format('%d', number) end
local lost, acked, at, is_empty = {}, 0, 1, nil
if ARGV[ARGV[2] * 2 + 3] then call('HLEN', history) end -- several slots: as in lib/probe.lua
while ARGV[at] do
  local slot, ranges, from, reuse = ARGV[at], tonumber(ARGV[at + 1]), at + 2, false
  local record = call('HGET', ledger, '@' .. slot)
  --@include settle
  at = from + 2 * ranges
end
if acked > 0 then call('HINCRBY', ledger, 'acked', acked) end
return { 'OK', acked, lost }
