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
local entry = find_lease(ARGV[2], ARGV[3] + 0)
local record = entry and record_of(entry)
if not record then return { 'LOST' } end
local h, packed = read_history(entry.id)
--@include probe
--@include unlock
if ARGV[6] ~= '' then
  local value, at = struct.pack('>I4', ARGV[6] + 0), body_at(record)
  if flag(string.byte(record, 7), OPTIONS) then
    record = string.sub(record, 1, at + 9) .. value .. string.sub(record, at + 14)
  else
    record = string.sub(record, 1, 6) .. string.char(string.byte(record, 7) + OPTIONS) .. string.sub(record, 8, at - 1)
      .. struct.pack('>I2I4I4', 26, 60000, 10) .. value .. struct.pack('>I6I4I4', 0, 0, 0) .. string.sub(record, at)
  end
  call('HSET', jobs, entry.id, record)
end
local due = tonumber(ARGV[5]) or due_in(ARGV[4])
if ARGV[7] == '1' then
  due = due_of(record, h, packed)
else
  h.attempts, h.releases = h.attempts + 1, h.releases + 1
end
h.due = due
local has_history = ARGV[7] ~= '1' or packed
place(entry.id, record, due, has_history and true)
if has_history then write_history(entry.id, h) end
end_lease(ARGV[2], entry)
--@include wake
wake(due)
return { 'OK', int(due) }
