-- lib/look_behind.lua: where jobs have ended because they were too late, reserve.lua goes on with those behind them, 500 jobs in all. It looks there once;
-- beside groups only where it has no other job.
if not (has_turns and count > 0) then
  has_looked_behind, first = true, 2 * count + 1
  if look then
    picked = look(500 - late)
  else
    picked = call('ZRANGEBYSCORE', waiting, '-inf', now_text, 'WITHSCORES', 'LIMIT', '0', 500 - late)
  end
end
