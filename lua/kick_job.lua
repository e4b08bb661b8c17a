-- kick_job.lua: a given buried or delayed job becomes ready now.
-- KEYS    all
-- ARGV[1] clock offset (ms)   ARGV[2] id   ARGV[3] 1: attempts start anew
-- Returns {"OK"} | {"MISSING"} neither buried nor delayed
-- Cost    O(log N)
--@include clock
--@include keys
--@include record
--@include place
--@include history
--@include kick
--@include probe
local id = ARGV[2]
local done = false
if call('ZSCORE', buried, id) then
  done = kick(id, ARGV[3] == '1')
else
  local record = call('HGET', jobs, id)
  if record and options(record) then
    local h, packed = read_history(id)
    local due = waits(id, record, packed and true)
    if due and due > now then
      --@include unlock
      --@include move
      h.kicks, h.due = h.kicks + 1, now
      if ARGV[3] == '1' then h.attempts = 0 end
      move(id, record, due, now, packed and true or false, true)
      write_history(id, h)
      done = true
    end
  end
end
if not done then return { 'MISSING' } end
--@include wake
wake(now)
return { 'OK' }
