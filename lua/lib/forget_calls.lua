-- lib/forget_calls.lua: these leases (false: none) have ended. A consumer that holds no job of its last reserve any more may have died: that
-- reserve is forgotten. Of each consumer it reads leases up to the first that is held: up to 500 where the jobs before it have ended.
local function forget_calls(ended_leases)
  local seen = {}
  for _, ended in ipairs(ended_leases) do
    local _, consumer = read_lease(ended)
    local lines = consumer and not seen[consumer] and call('HGET', leases, '\n' .. consumer)
    if lines then
      local is_held = false
      seen[consumer] = true
      for id in string.gmatch(lines, '\n([^\n]+)') do
        local _, holder = read_lease(call('HGET', leases, id))
        is_held = holder == consumer
        if is_held then break end
      end
      if not is_held then call('HDEL', leases, '\n' .. consumer) end
    end
  end
end
