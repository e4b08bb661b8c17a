-- list_group.lua: a page of the jobs of a group in one state, in the order of the group; held jobs in the order of their ids.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] group   ARGV[3] state: delayed, ready or reserved   ARGV[4] the entry of its book behind which to go on, or ''
-- ARGV[5] limit, at most 200   ARGV[6] most bytes of records
-- Returns {"JOBS", state, entry, …} then five per job as of peek.lua: id · record · history · due · deadline; entry: '' behind the last one
--       | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(L log N) for L entries looked at
--@include clock
--@include keys
--@include check_schema
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
--@include book
if reclaim(true) then return { 'AGAIN' } end
local group, state, bytes = ARGV[2], ARGV[3], ARGV[6] + 0
local reply, kind_at, looks = { 'JOBS', state, '' }, #group + 2, 0
local from = ARGV[4] ~= '' and '(' .. ARGV[4] or '[' .. group .. (state == 'reserved' and '\nh' or '\nr')
local to = '(' .. group .. (state == 'reserved' and '\ni' or '\nx')
local function add(id, due, deadline)
  local record = call('HGET', jobs, id)
  if not record then return end
  bytes = bytes - #record
  for _, value in ipairs({ id, record, call('HGET', history, id) or '', int(due), deadline }) do reply[#reply + 1] = value end
end
while looks < ARGV[5] + 0 and bytes > 0 do
  local entry = call('ZRANGEBYLEX', groups, from, to, 'LIMIT', 0, 1)[1]
  if not entry then
    reply[3] = ''
    return reply
  end
  looks, reply[3], from = looks + 1, entry, '(' .. entry
  local kind = string.sub(entry, kind_at, kind_at)
  if kind == 'h' then
    local id = string.sub(entry, kind_at + 1)
    add(id, read_lease(call('HGET', leases, id)), int(tonumber(call('ZSCORE', reserved, id)) or now))
  else
    local priority, due, at
    if kind == 'r' and #entry > kind_at + 8 then
      due, at = struct.unpack('>I8', entry, kind_at + 1)
    elseif kind == 'w' and #entry > kind_at + 12 then
      priority, due, at = struct.unpack('>I4I8', entry, kind_at + 1)
    end
    if not due then
      at = nil -- another program has made it
    elseif (due <= now) == (state == 'ready') then
      add(string.sub(entry, at), due, '')
    elseif priority and state == 'ready' then
      -- Of one priority the due jobs come first.
      reply[3] = group .. '\nw' .. struct.pack('>I4', priority) .. string.rep('\255', 9)
      from = '(' .. reply[3]
    elseif priority then
      reply[3] = group .. '\nw' .. struct.pack('>I4', priority) .. moment_text(now + 1)
      from = '[' .. reply[3]
    end
  end
end
return reply
