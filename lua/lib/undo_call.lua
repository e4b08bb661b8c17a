-- lib/undo_call.lua: a reserve whose answer was lost is repeated under the same number. It first gives back, uncounted, the jobs that the lost
-- one has leased.
local function undo_call(consumer, number)
  local lines = string.gmatch(call('HGET', leases, '\n' .. consumer) or '', '[^\n]+')
  if lines() ~= number then return end
  for id in lines do
    local lease = call('HGET', leases, id)
    local _, holder = read_lease(lease)
    if holder == consumer then give_back(id, lease) end
  end
end
