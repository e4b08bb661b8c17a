-- lib/look_closer.lua: what reserve.lua reads of a record that has options, a history or traits, or is damaged; no `record`: the job is not to be leased.
local last
if flags and flags < 4 and #record >= 7 then last, ttr_ms, max_attempts = read_options(record) end
if not last then
  --@include examine
end
if ttr_ms then
  past = flags % 4 >= 2 and call('HGET', history, id) or ''
  local attempts, timeouts = 0, 0
  if #past >= 20 then attempts, timeouts = struct.unpack('>I4I4', past) end
  is_alone = timeouts > 0 or max_attempts > 0 and attempts + 1 >= max_attempts
else
  record = nil
end
