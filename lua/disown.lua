-- disown.lua: end leases that turned out not to be of the job they were for. No record is looked at, and none changes.
-- KEYS[1] reserved  ZSET  slot → deadline (ms)   KEYS[2] ledger  HASH  head, '@'+slot → leases
-- ARGV[1] slot   ARGV[2…] tokens; those that are not in the slot do not matter
-- Returns {"OK"}
-- Cost    O(T + J) for T tokens and J jobs in the slot
local call, reserved, ledger = redis.call, KEYS[1], KEYS[2]
local function int(number) return string.format('%d', number) end
--@include lease
local record, gone, kept = call('HGET', ledger, '@' .. ARGV[1]), {}, {}
for n = 2, #ARGV do gone[ARGV[n] + 0] = true end
local entries = entries_of(record)
for _, entry in ipairs(entries) do
  if not gone[entry.token] then kept[#kept + 1] = entry end
end
if #kept < #entries then
  --@include unlock
  store_slot(ARGV[1], record, kept)
end
return 'OK'
