-- lib/pick_rarely.lua: picks jobs as reserve.lua does, where there may be groups, limits, priorities, expired leases or a pause, or the call is a repeat.
-- `look` finds more of them, as id · due, and says whether groups had nothing to give, and there may be more of them.
--@include pause_end
local is_more, has_room = false, false
is_prioritized = others > 0 and call('EXISTS', prioritized) == 1
if is_repeat or is_prioritized or call('ZCOUNT', reserved, '-inf', now_text) > 0 then
  rarely('returns')
  if is_repeat then is_let_in = rare.undo_call(consumer, ARGV[3]) or is_let_in end
  is_more, has_room = rare.take_back()
  is_let_in = is_let_in or has_room
  is_prioritized = call('EXISTS', prioritized) == 1 -- jobs may have come back there
  if is_prioritized then is_more = rare.promote() or is_more end
end
if not is_more then
  closed_until = pause_end()
  has_turns = call('EXISTS', line, limits) > 0
  if has_turns and not closed_until then
    if not rare.take_turns then rarely('groups') end
    cap = rare.cap_of and rare.cap_of(wanted + 0)
    if cap then wanted, closed_until = cap.wanted, cap.closed_until end
  end
  if has_turns or is_prioritized then
    look = function(many)
      local found, has_wrong = {}, false
      if is_prioritized then
        found, has_wrong, of, is_more = rare.pick(many, has_turns and rare.take_turns)
        has_dropped = has_dropped or has_wrong
      else
        of, is_more = rare.take_turns(found, many)
      end
      return found, is_more
    end
  end
  if closed_until then
    picked = {}
  elseif look then
    picked, is_more = look(wanted + 0)
    if is_more and not picked[1] then picked = nil end
    if of then call('ZCARD', grouped) end -- of a wrong type it must show before a job is leased
  else
    picked = call('ZRANGEBYSCORE', waiting, '-inf', now_text, 'WITHSCORES', 'LIMIT', '0', wanted)
  end
end
