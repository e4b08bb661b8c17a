-- lib/tokens.lua: each job that is leased takes a token of its group's rate, and of the queue's where that has limits. `spent` has until when the
-- tokens of each are spent; to allow a burst is to look so much earlier (the generic cell rate algorithm, ITU-T I.371).
--@include lease
--@include limits
local function charge(group, is_capped, many)
  local names = { group or '\n' }
  if group and is_capped then names[2] = '\n' end
  local found = call('HMGET', limits, '', unpack(names))
  for n, name in ipairs(names) do
    local own = read_limits(found[n + 1] or name ~= '\n' and found[1])
    if own.interval > 0 then
      local spent_until = tonumber(call('ZSCORE', spent, name)) or 0
      -- Tokens that reserve_job.lua has given out beyond the limits stay spent when a job gives its own token back.
      if many > 0 then spent_until = math.max(spent_of(own, spent_until), now) end
      call('ZADD', spent, int(spent_until + many * own.interval), name)
    end
  end
end
-- A job that nobody has seen gives its token back.
local function refund(lease)
  local _, _, _, marks = read_lease(lease)
  local group = string.find(marks, 'g', 1, true) and string.match(lease, '^%S+ %S+ %S+ %S+ (.*)$')
  if string.find(marks, '[gl]') then charge(group, string.find(marks, 'l', 1, true), -1) end
end
