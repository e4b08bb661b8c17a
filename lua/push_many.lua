-- push_many.lua: add up to 500 jobs of any priority, all or none. Also one job that replaces another.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] retry: microseconds since this very push was first sent, or ''
-- ARGV[3] plain: all have different ids, default options, a delay, and none may be there; and this is no retry. Else: each
-- ARGV[4…] plain: three per job: id · payload · delay (ms)
--          each: six: id · options+payload · stamp flags · delay (ms) or '' · absolute due (ms) or '' · on duplicate: fail, keep, replace
-- Returns {"OK"} | {"DUPLICATE", id} nothing changed | {"RESERVED", id} nothing changed: a reserved job is not replaced
-- Cost    O(J log N) for J jobs; 5 commands when plain, 6 where all have default priority and none replaces
--@include clock
--@include keys
local quarter = (time[1] * 1000000 + time[2] - 1577836800000000) * 4

if ARGV[3] == 'plain' then
  local pack, format = struct.pack, string.format
  local ids, members, records, count = {}, {}, {}, 0
  for at = 4, #ARGV, 3 do
    count = count + 1
    ids[count] = ARGV[at]
  end
  local old = call('HMGET', jobs, unpack(ids))
  local first_due, last_delay, due_text, due_bytes
  for n = 1, count do
    if old[n] then return { 'DUPLICATE', ids[n] } end
    local id, body, delay = ids[n], ARGV[3 * n + 2], ARGV[3 * n + 3]
    if delay ~= last_delay then
      local due = due_in(delay)
      last_delay, due_text, due_bytes = delay, format('%d', due), pack('>I6', due)
      if not first_due or due < first_due then first_due = due end
    end
    local stamp = pack('>I7', (quarter + n) * 8)
    members[2 * n - 1], members[2 * n] = due_text, stamp .. id
    records[2 * n - 1], records[2 * n] = id, stamp .. due_bytes .. body
  end
  call('ZADD', waiting, unpack(members)) -- members first (see push.lua)
  call('HSET', jobs, unpack(records))
  if try('ZCARD', waiters) ~= 0 then
    --@include wake
    wake(first_due)
  end
  return 'OK'
end

--@include record
local DEFAULTS = '0'

-- 1. Look, change nothing.
local ids = {}
for i = 4, #ARGV, 6 do ids[#ids + 1] = ARGV[i] end
local old = call('HMGET', jobs, unpack(ids))
call('ZCARD', waiting)
local own_since = ARGV[2] ~= '' and quarter - ARGV[2] * 4 or nil
local function is_own(record, body) -- a retry: our own first try may have been applied
  if not own_since then return false end
  local high, low = struct.unpack('>I4I3', record .. '\0\0\0\0\0\0\0')
  return high * 2097152 + math.floor(low / 8) >= own_since and string.sub(record, 14) == body
end
local seen, skip, replaced, replaced_here = {}, {}, {}, 0
for n = 1, #ids do
  local base, id = 4 + (n - 1) * 6, ids[n]
  local mode, record = ARGV[base + 5], old[n]
  if record and mode ~= 'replace' and is_own(record, ARGV[base + 1]) then record, skip[n] = false, true end
  if record or seen[id] then
    if mode == 'fail' then return { 'DUPLICATE', id } end
    if mode == 'keep' then skip[n] = true end
    if mode == 'replace' and record then replaced[n] = record end
  end
  if seen[id] and mode == 'replace' then -- an earlier one of this very batch
    skip[seen[id]], replaced_here = true, replaced_here + 1
  end
  if not skip[n] then seen[id] = n end
end

-- 2. Where the replaced ones are: an earlier replacement that was refused half-way may have left either stamp.
local function place_of(id, record, remove)
  --@include place
  local first, second = waits(id, record, false, remove), waits(id, record, true, remove)
  return first or second or call('ZSCORE', buried, id)
end
for n, record in pairs(replaced) do
  if not skip[n] and not place_of(ids[n], record) then
    if not is_own(record, ARGV[5 + (n - 1) * 6]) then return { 'RESERVED', ids[n] } end
    skip[n] = true -- somebody reserved what our first try had put there
  end
end

-- 3. Write: members first (see push.lua), then all records in one command, then the old places go.
local members, records, ranked, first_due = {}, {}, {}, nil
for n = 1, #ids do
  if not skip[n] then
    local base = 4 + (n - 1) * 6
    local at = quarter + n
    local head = struct.pack('>I4I3', math.floor(at / 2097152), at % 2097152 * 8 + ARGV[base + 2])
    local due = ARGV[base + 4]
    if due == '' then due = int(due_in(ARGV[base + 3])) end
    local record = head .. struct.pack('>I6', due + 0) .. ARGV[base + 1]
    records[#records + 1], records[#records + 2] = ids[n], record
    if ARGV[base + 2] == DEFAULTS or select(3, options(record)) == 1024 then
      members[#members + 1], members[#members + 2] = due, head .. ids[n]
    else
      ranked[#ranked + 1] = { ids[n], record, due + 0 }
    end
    if not first_due or due + 0 < first_due then first_due = due + 0 end
  end
end
if ranked[1] or next(replaced) then
  --@include probe
end
if members[1] then call('ZADD', waiting, unpack(members)) end
if ranked[1] then
  --@include place
  for _, job in ipairs(ranked) do place(job[1], job[2], job[3], false) end
end
if records[1] then call('HSET', jobs, unpack(records)) end
for n, record in pairs(replaced) do
  if not skip[n] then
    call('HDEL', history, ids[n])
    place_of(ids[n], record, true)
    call('ZREM', buried, ids[n])
    call('HINCRBY', ledger, 'replaced', 1)
  end
end
if replaced_here > 0 then call('HINCRBY', ledger, 'replaced', replaced_here) end
if first_due then
  --@include wake
  if try('ZCARD', waiters) ~= 0 then wake(first_due) end
end
return 'OK'
