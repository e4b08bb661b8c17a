-- lib/count_runs.lua: counts the jobs that lib/acknowledge.lua has found, by the `outcome` of their runs and how long those took.
if not ran then
  call('HINCRBY', meta, outcome .. runs, #ids == 1 and '1' or #ids)
else
  for run, many in pairs(ran) do call('HINCRBY', meta, outcome .. run, many) end
end
