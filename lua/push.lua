-- push.lua: add one job of default priority. What is due in a while is added by a transaction, if nothing is out of the ordinary
-- (lua/README.md, "Pushing without a script").
-- KEYS[1] waiting  ZSET  stamp+id → due (ms)
-- KEYS[2] jobs     HASH  id → stamp+due+options+payload
-- KEYS[3] waiters  ZSET  idle consumer → when it looks by itself (ms)
-- ARGV[1] id   ARGV[2] options+payload   ARGV[3] delay (ms)   ARGV[4] stamp flags: 2 with options; without: 0 or nothing
-- ARGV[5] clock offset (ms), or nothing   ARGV[6] absolute due time (ms) instead, or ''
-- ARGV[7] retry: microseconds since this very push was first sent, or nothing
-- ARGV[8] stamp+due under which a transaction has placed this very job, or, in a retry, may have: it gets its proper place. Or nothing
-- Returns {"OK"} | {"DUPLICATE"} nothing changed
-- Cost    O(log N), 4 commands; 3 more after a transaction
-- Order   member before record: a member without its record is dropped by reserve, a record without member would be lost.
local call, try = redis.call, redis.pcall
local time, delay, flags, offset = call('TIME'), ARGV[3], ARGV[4], ARGV[5] or 0
local us = time[1] * 1000000 + time[2]
local born, due = (us - us % 1000) / 1000, nil -- ms
if ARGV[6] and ARGV[6] ~= '' then
  due = ARGV[6] + 0
elseif delay == '0' then
  due = born + offset -- no delay is due now
else
  due = (us + -us % 1000) / 1000 + delay + offset -- rounded up, so that it is never early
end
local stamp = struct.pack('>I7', (us - 1577836800000000) * 32)
if flags and flags ~= '0' then stamp = string.sub(stamp, 1, 6) .. string.char(string.byte(stamp, 7) + flags) end
local id = ARGV[1]
local member, body, placed, is_ours = stamp .. id, ARGV[2], nil, false
local is_retry = ARGV[7] and ARGV[7] ~= ''
if ARGV[8] then
  local found = call('HGET', KEYS[2], id)
  local head, own_stamp = ARGV[8], string.sub(ARGV[8], 1, 7)
  placed = own_stamp .. id
  is_ours = found and string.sub(found, 1, 7) == own_stamp
  if not is_ours and not is_retry then -- somebody has reserved or cancelled it since, and it may have been pushed anew
    call('ZREM', KEYS[1], placed)
    return { 'OK' }
  end
  if is_ours then
    -- Does it wait? A ZSCORE that producers have the right to. Somebody may have rescheduled or updated it.
    local waits = call('ZADD', KEYS[1], 'XX', 'INCR', '0', placed)
    if not waits or string.sub(found, 1, #head) ~= head then return { 'OK' } end
    body = string.sub(found, #head + 1)
  end
end

call('ZADD', KEYS[1], string.format('%d', due), member)
local after = due - born
local is_near = after >= 0 and after < 16777215 -- as in lib/due.lua
local record = stamp .. (is_near and struct.pack('>I3', after) or struct.pack('>I3I6', 16777215, due)) .. body
local added = is_ours and try('HSET', KEYS[2], id, record) == 0 and 1 or try('HSETNX', KEYS[2], id, record)
if placed and placed ~= member and (added == 1 or not is_ours) then call('ZREM', KEYS[1], placed) end
if added ~= 1 then
  call('ZREM', KEYS[1], member)
  if added ~= 0 then return added end
  if is_retry then -- the answer to our own first try was lost: its job is younger than that try
    local found = call('HGET', KEYS[2], id)
    local high, low = struct.unpack('>I4I3', found .. '\0\0\0\0\0\0\0')
    local age_us = us - ((high * 2097152 + math.floor(low / 8)) / 4 + 1577836800000000)
    --@include due
    if age_us <= ARGV[7] + 0 and string.sub(found, body_at(found)) == ARGV[2] then return { 'OK' } end
  end
  return { 'DUPLICATE' }
end

if try('ZCARD', KEYS[3]) ~= 0 then
  local waiters, now_us = KEYS[3], us + offset * 1000
  local now = math.floor(now_us / 1000)
  local function int(number) return string.format('%d', number) end
  --@include wake
  wake(due)
end
return 'OK'
