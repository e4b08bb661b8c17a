-- release.lua: give a job back before its lease ends. The attempt stays counted; it is never buried.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] slot   ARGV[3] token
-- ARGV[4] delay (ms), or ''   ARGV[5] absolute due time (ms), or ''   ARGV[6] new priority, or '' to keep it
-- ARGV[7] 1: do not count the attempt (a job that was never started)
-- Returns {"OK", due} | {"LOST"} not ours any more, nothing changed
-- Cost    O(log N)
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include lease
local entry, slot_record = find_lease(ARGV[2], ARGV[3])
local record = entry and call('HGET', jobs, entry.id)
if not record then return { 'LOST' } end
local h = read_history(entry.id)
--@include probe
--@include unlock
if ARGV[6] ~= '' then
  local packed = struct.pack('>I4', ARGV[6] + 0)
  if flag(string.byte(record, 7), OPTIONS) then
    record = string.sub(record, 1, 17) .. packed .. string.sub(record, 22)
  else
    record = string.sub(record, 1, 6) .. string.char(string.byte(record, 7) + OPTIONS)
      .. struct.pack('>I2I4I4', 26, 60000, 10) .. packed .. struct.pack('>I6I4I4', 0, 0, 0) .. string.sub(record, 8)
  end
  call('HSET', jobs, entry.id, record)
end
local due = tonumber(ARGV[5]) or due_in(ARGV[4])
if ARGV[7] == '1' then
  due, h.attempts = entry.due, entry.attempts - 1
else
  h.attempts, h.releases = entry.attempts, h.releases + 1
end
h.due = due
local has_history = ARGV[7] ~= '1' or entry.has_history
place(entry.id, record, due, has_history)
if has_history then write_history(entry.id, h) end
store_slot(ARGV[2], without(slot_record, entry))
--@include wake
wake(due)
return { 'OK', int(due) }
