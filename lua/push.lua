-- push.lua: add up to 500 jobs of default priority, or of groups, all or none.
-- KEYS[1] jobs     HASH  id → record            KEYS[2] waiting  ZSET  id → due (µs)
-- KEYS[3] waiters  ZSET  idle consumer → when it looks by itself (µs)
-- KEYS[4] history  HASH  id → past: only where a job of the call has a moment, or is of a group
-- KEYS[5] grouped  ZSET  id → due (µs)   KEYS[6] groups  ZSET  the books   KEYS[7] line  ZSET  group → moment (µs): only where the jobs are of groups
-- ARGV[1] clock offset (µs)   ARGV[2] the meaning of a taken id. fail: it is an error. keep: its job stays. fail_again, keep_again: so, too, and the
--         answer to this push was lost. One of its records that is there proves that all of it was stored
-- ARGV[3…] in threes: id · record · due: a delay (µs), or '@' and a moment; all ids different; of groups in fives, with group · priority
-- Returns "OK" | {"DUPLICATE", id} nothing changed
-- Cost    O(J log N) for J jobs; J + 3 commands, one less for a single job after a delay, one more if its id is taken, of groups four more, 1 more
--         where a job is due within six seconds, 1 more where a moment has passed
-- Rights  a record is read in a repeat only: who may not, as a producer, cannot read jobs, and is left in doubt then
-- Order   place before record: the next script that meets an entry without a record drops it; a record without a place would be lost.
local call, ARGV, time = redis.call, ARGV, redis.call('TIME')
local jobs, waiting, waiters, last = KEYS[1], KEYS[2], KEYS[3], #ARGV
local now, soonest = time[1] * 1000000 + time[2], nil
if ARGV[1] ~= '0' then now = now + ARGV[1] end -- only in tests
if last == 5 and not KEYS[4] then
  -- One job after a delay: where its id is free, this does as much as the rest of the script, for a sixth less work. Where it is taken, or Redis
  -- refuses a command, the rest answers: also a full Redis can tell that an id is taken.
  soonest = now + ARGV[5]
  local is_placed = redis.pcall('ZADD', waiting, 'NX', string.format('%d', soonest), ARGV[3]) == 1
  if not is_placed or redis.pcall('HSETNX', jobs, ARGV[3], ARGV[4]) ~= 1 then
    soonest = nil
    if is_placed then call('ZREM', waiting, ARGV[3]) end
  end
end
if not soonest then
  local mode, width, line = ARGV[2], KEYS[5] and 5 or 3, KEYS[7]
  local places, records, waited, entries, turns, duplicate = {}, {}, {}, {}, {}, nil
  for n = 3, last, width do
    local id, record, due, at = ARGV[n], ARGV[n + 1], ARGV[n + 2], #places
    if call('HEXISTS', jobs, id) == 0 then
      if not KEYS[4] or tonumber(due) then
        due = now + (n - 3) / width + due -- the jobs of a batch follow each other by a microsecond
      else
        due = string.sub(due, 2) + 0
        if due < now then
          -- Like waits_from_now() of lib/history.lua, which all changes have to wait for.
          record = string.char(string.byte(record) + 2) .. string.sub(record, 2)
          waited[#waited + 1], waited[#waited + 2] = id, struct.pack('>I4I4I4I4I4I8', 0, 0, 0, 0, 0, now)
        end
      end
      if not soonest or due < soonest then soonest = due end
      places[at + 1], places[at + 2] = string.format('%d', due), id
      records[at + 1], records[at + 2] = id, record
      if line then
        local group = ARGV[n + 3]
        -- As in lib/book.lua.
        entries[at + 1], entries[at + 2] = '0', group .. '\nw' .. struct.pack('>I4I8', ARGV[n + 4], math.min(math.max(due, 0), 9007199254740991)) .. id
        turns[group] = math.min(turns[group] or due, due)
      end
    elseif mode == 'fail' then
      return { 'DUPLICATE', id }
    elseif mode ~= 'keep' and string.sub(call('HGET', jobs, id), 2) == string.sub(record, 2) then
      return 'OK'
    elseif mode == 'fail_again' then
      duplicate = duplicate or id
    end
  end
  if duplicate then return { 'DUPLICATE', duplicate } end
  if not soonest then return 'OK' end
  if line then
    local stands = {}
    for group, due in pairs(turns) do stands[#stands + 1], stands[#stands + 2] = string.format('%d', math.max(due, now)), group end
    call('ZCARD', waiting) -- a newer schema shows there
    call('ZADD', line, 'LT', unpack(stands))
    call('ZCARD', KEYS[6]) -- of a wrong type it must show before the jobs are counted
    call('ZADD', KEYS[5], unpack(places))
    call('ZADD', KEYS[6], unpack(entries))
  else
    call('ZADD', waiting, unpack(places))
  end
  if waited[1] then redis.pcall('HSET', KEYS[4], unpack(waited)) end
  call('HSET', jobs, unpack(records))
end
if soonest <= now + 6000000 and redis.pcall('ZCARD', waiters) ~= 0 then -- the horizon of lib/wake.lua
  local try = redis.pcall
  local function int(number) return string.format('%d', number) end
  --@include wake
  wake(soonest)
end
return 'OK'
