-- lib/undo_call.lua: a reserve whose answer was lost is repeated under the same number. It first gives back, uncounted, the jobs that the lost
-- one has leased. True: there were some, and others may have them.
local function undo_call(consumer, number)
  local lines = string.gmatch(call('HGET', leases, '\n' .. consumer) or '', '[^\n]+')
  local has_undone = false
  if lines() ~= number then return false end
  for id in lines do
    local lease = call('HGET', leases, id)
    local _, holder = read_lease(lease)
    if holder == consumer then
      give_back(id, lease)
      has_undone = true
    end
  end
  return has_undone
end
