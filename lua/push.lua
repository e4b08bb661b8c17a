-- push.lua: add one job of default priority. The hot path of producers.
-- KEYS[1] waiting  ZSET  stamp+id → due (ms)
-- KEYS[2] jobs     HASH  id → stamp+options+payload
-- KEYS[3] waiters  ZSET  idle consumer → when it looks by itself (ms)
-- ARGV[1] clock offset (ms)   ARGV[2] id   ARGV[3] options+payload   ARGV[4] stamp flags: 0, or 2 with options
-- ARGV[5] delay (ms)          ARGV[6] absolute due time (ms) instead, or ''
-- ARGV[7] retry: microseconds since this very push was first sent, or ''
-- Returns {"OK"} | {"DUPLICATE"} nothing changed
-- Cost    O(log N), 4 commands
-- Order   member before record: a member without its record is dropped by reserve, a record without member would be lost.
local call, try = redis.call, redis.pcall
local time = call('TIME')
local us = time[1] * 1000000 + time[2]
local quarter = (us - 1577836800000000) * 4
local stamp = struct.pack('>I4I3', math.floor(quarter / 2097152), quarter % 2097152 * 8 + ARGV[4])
local due = ARGV[6]
if not due or due == '' then -- a delay is rounded up, so that it is never early; no delay is due now
  due = string.format('%.0f', (ARGV[5] == '0' and math.floor(us / 1000) or math.ceil(us / 1000) + ARGV[5]) + ARGV[1])
end
local member = stamp .. ARGV[2]

call('ZADD', KEYS[1], due, member)
local added = try('HSETNX', KEYS[2], ARGV[2], stamp .. ARGV[3])
if added ~= 1 then
  call('ZREM', KEYS[1], member)
  if added ~= 0 then return added end
  if ARGV[7] and ARGV[7] ~= '' then -- the answer to our own first try was lost: its job is younger than that try
    local record = call('HGET', KEYS[2], ARGV[2])
    local high, low = struct.unpack('>I4I3', record .. '\0\0\0\0\0\0\0')
    local age_us = us - ((high * 2097152 + math.floor(low / 8)) / 4 + 1577836800000000)
    if age_us <= ARGV[7] + 0 and string.sub(record, 8) == ARGV[3] then return { 'OK' } end
  end
  return { 'DUPLICATE' }
end

local waiters = KEYS[3]
local idle = try('ZRANGE', waiters, '0', '0')
if idle[1] then
  local now_us = us + ARGV[1] * 1000
  local now = math.floor(now_us / 1000)
  local function int(number) return string.format('%.0f', number) end
  --@include wake
  wake(due + 0)
end
return { 'OK' }
