-- lib/snapshot.lua: copies the counters into the field `snapshot<now>` of `meta`, at most every five minutes. A client that has the counters of
-- now and of an hour ago knows those of the hour. The word `jobs` among them is how many jobs there are, with which a client knows how many were
-- pushed. Keeps the snapshots of the last hour and the last one before it. Best effort: the script goes on if Redis refuses the snapshot.
local SNAPSHOT_EVERY_US, HOUR_US = 300000000, 3600000000

local function snapshot()
  local fields, counters, taken = try('HGETALL', meta), {}, {}
  for n = 1, #fields, 2 do
    local at = string.match(fields[n], '^snapshot(%d+)$')
    if at then
      taken[#taken + 1] = at + 0
    elseif string.find(fields[n], '^[%l_]+%d*$') and tonumber(fields[n + 1]) then
      counters[#counters + 1] = fields[n] .. ' ' .. fields[n + 1]
    end
  end
  table.sort(taken)
  local age = now - (taken[#taken] or -math.huge)
  if not counters[1] or age >= 0 and age < SNAPSHOT_EVERY_US then return end
  local many = try('HLEN', jobs)
  if type(many) == 'number' then counters[#counters + 1] = 'jobs ' .. many end
  if type(try('HSET', meta, 'snapshot' .. int(now), table.concat(counters, ' '))) == 'table' then return end
  for n, at in ipairs(taken) do
    -- After the clock was set back some are of the future.
    if at > now or (taken[n + 1] or now) <= now - HOUR_US then try('HDEL', meta, 'snapshot' .. int(at)) end
  end
end
