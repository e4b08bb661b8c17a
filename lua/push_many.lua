-- push_many.lua: add up to 500 jobs of any priority, all or none. Also one job that replaces another.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] retry: microseconds since this very push was first sent, or '@' and the time that a transaction has
--         stamped its jobs with, if it was executed (µs); or 'fresh': nobody else can have these ids, so if one is there, an earlier try has
--         added all. Or ''
-- ARGV[3] each, or made: the client has made the members and the records, by what it believes Redis' clock to say; their ids are
--         different, and none may be there; this is no retry
-- ARGV[4…] each: six per job: id · options+payload · stamp flags · delay (ms) or '' · absolute due (ms) or '' · on duplicate: fail, keep, replace
--          made: the time of the stamps and the one that delays were added to (µs) · first due (ms) · how many jobs, two per job:
--          id · record, then again two per job: due (ms) · member
-- Returns {"OK"} | {"DUPLICATE", id} nothing changed | {"RESERVED", id} nothing changed: a reserved job is not replaced
--       | {"CLOCK"} nothing changed: jobs that were made would be stamped later than now, or due earlier than they should be
-- Cost    O(J log N) for J jobs; 5 commands when made, 6 where all have default priority and none replaces
--@include clock
--@include keys
local quarter = (time[1] * 1000000 + time[2] - 1577836800000000) * 4

if ARGV[3] == 'made' then
  local us, count, ids = time[1] * 1000000 + time[2], ARGV[7] + 0, {}
  if ARGV[4] - us > 0 or us - ARGV[5] > 0 then return { 'CLOCK' } end
  for n = 1, count do ids[n] = ARGV[2 * n + 6] end
  local old = call('HMGET', jobs, unpack(ids))
  for n = 1, count do
    if old[n] then return { 'DUPLICATE', ids[n] } end
  end
  call('ZADD', waiting, unpack(ARGV, 2 * count + 8)) -- members first (see push.lua)
  call('HSET', jobs, unpack(ARGV, 8, 2 * count + 7))
  if try('ZCARD', waiters) ~= 0 then
    --@include wake
    wake(ARGV[6] + 0)
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
local own_since = nil
if ARGV[2] == 'fresh' then
  for n = 1, #ids do
    if old[n] then return 'OK' end
  end
elseif string.sub(ARGV[2], 1, 1) == '@' then
  own_since = (string.sub(ARGV[2], 2) - 1577836800000000) * 4
elseif ARGV[2] ~= '' then
  own_since = quarter - ARGV[2] * 4
end
local function is_own(record, body) -- a retry: our own first try may have been applied
  if not own_since then return false end
  local high, low = struct.unpack('>I4I3', record .. '\0\0\0\0\0\0\0')
  return high * 2097152 + math.floor(low / 8) >= own_since and string.sub(record, body_at(record)) == body
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
    local record = head .. pack_due(math.floor(at / 32), due + 0) .. ARGV[base + 1]
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
