-- lib/acknowledge.lua: removes jobs that are done, ARGV[from…] in pairs: id · lease. Returns the positions of those that are not ours any
-- more, and counts the others.
local function acknowledge(from)
  local ids, done, aged, lost = {}, {}, {}, {}
  for n = from, #ARGV - 1, 2 do ids[#ids + 1] = ARGV[n] end
  if not ids[1] then return lost end
  local held = call('HMGET', leases, unpack(ids))
  for n, id in ipairs(ids) do
    local lease = ARGV[from + 2 * n - 1]
    if held[n] == lease then
      done[#done + 1] = id
      if string.byte(lease, -1) == 43 then aged[#aged + 1] = id end
    else
      lost[#lost + 1] = n
    end
  end
  if done[1] then
    finish(done, aged)
    call('HINCRBY', meta, 'acked', #done)
  end
  return lost
end
