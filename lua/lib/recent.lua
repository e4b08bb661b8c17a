-- lib/recent.lua: ids that stay taken for a time after their push, whatever became of the job.
local recent = KEYS[16]
local function is_recent(id) return (tonumber(call('ZSCORE', recent, id)) or 0) > now end
-- Drops ten past entries for each that it makes: the set gets no larger than what is taken.
local function take_id(id, unique_us)
  call('ZADD', recent, int(now + unique_us), id)
  local ten = call('ZRANGE', recent, '-inf', int(now), 'BYSCORE', 'LIMIT', 0, 10)
  if ten[1] then call('ZREM', recent, unpack(ten)) end
end
