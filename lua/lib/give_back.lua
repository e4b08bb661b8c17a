-- lib/give_back.lua: takes a job back to its old place, as if nobody had reserved it.
--@include ends
--@include back
--@include tokens
local function give_back(id, lease)
  --@include allow_when_full
  local record = call('HGET', jobs, id)
  if record then
    local _, _, priority = options(record)
    local due, _, was_buried = read_lease(lease)
    if was_buried then call('ZADD', buried, int(due), id) else place_back(id, record, priority, due) end
    refund(lease)
  end
  end_leases({ id }, { lease })
end
