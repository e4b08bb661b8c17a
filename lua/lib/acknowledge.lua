-- lib/acknowledge.lua: which of the jobs of ARGV[from…], in pairs id · lease, are ours, and go: `ids`, and `held`, their leases. `lost`: the positions of the
-- others. `aged`: those that have a history; `is_marked`: one lease has another mark than that. `runs`: the buckets of the run times, two digits for
-- each job, or two for all; `ran`: how many jobs of each bucket, where they differ.
local ids, aged, ran, is_marked = {}, nil, #runs > 2 and {}, false
for n = from, #ARGV, 2 do ids[#ids + 1] = ARGV[n] end
local held = call('HMGET', leases, unpack(ids))
for n = #ids, 1, -1 do
  local lease = ARGV[from + 2 * n - 1]
  if held[n] ~= lease then
    lost = n .. ' ' .. lost
    table.remove(ids, n)
    table.remove(held, n)
  else
    local mark, second = string.byte(lease, 1, 2)
    if mark == 104 and (second == 32 or second == 97) then -- 'h ' or 'ha ': an a is the last mark
      aged = aged or {}
      aged[#aged + 1] = ids[n]
    elseif mark ~= 45 and mark ~= 97 then -- '-' or 'a'
      is_marked = true
    end
    if ran then
      local run = string.sub(runs, 2 * n - 1, 2 * n)
      ran[run] = (ran[run] or 0) + 1
    end
  end
end
