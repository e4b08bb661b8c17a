-- lib/give_back.lua: takes a job back to its old place, as if nobody had reserved it. Returns its due time, or nil where no job is.
local function give_back(id, lease)
  local record, due = call('HGET', jobs, id), nil
  if record then
    local _, _, priority = options(record)
    due = read_lease(lease)
    place(id, priority or DEFAULT_PRIORITY, due)
  end
  end_lease(id)
  return due
end
