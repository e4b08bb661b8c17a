-- lib/acknowledge.lua: removes jobs that are done, ARGV[from…] in pairs: id · lease. `outcome`: of their runs; `runs`: the buckets of
-- the run times, two digits for each, or two for all. Returns the positions of those that are not ours any more, and counts the others; and true, if that makes room in a group, or in the queue, for another job.
local function acknowledge(outcome, runs, from)
  local ids, done, proofs, lost, ran, is_let_in = {}, {}, {}, {}, #runs > 2 and {}, false
  for n = from, #ARGV - 1, 2 do ids[#ids + 1] = ARGV[n] end
  if not ids[1] then return lost, false end
  local held = call('HMGET', leases, unpack(ids))
  for n, id in ipairs(ids) do
    local lease = ARGV[from + 2 * n - 1]
    if held[n] == lease then
      done[#done + 1], proofs[#proofs + 1] = id, lease
      if ran then
        local run = string.sub(runs, 2 * n - 1, 2 * n)
        ran[run] = (ran[run] or 0) + 1
      end
    else
      lost[#lost + 1] = n
    end
  end
  if done[1] then
    is_let_in = end_jobs(done, proofs)
    if not ran then
      call('HINCRBY', meta, outcome .. runs, #done)
    else
      for run, many in pairs(ran) do call('HINCRBY', meta, outcome .. run, many) end
    end
  end
  return lost, is_let_in
end
