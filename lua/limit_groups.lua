-- limit_groups.lua: the limits of a group, or of each group that has none of its own, from the next lease on.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] group, or '' for all others   ARGV[3] the limits (lib/limits.lua), or '' to forget them
-- ARGV[4] of all others: '', and then the name behind which to go on
-- Returns {"OK"} | {"MORE", name} the limits are set, and the groups up to this name stand in line as they allow
-- Cost    O(log N); of all others O(G log N) for up to 100 groups looked at
--@include clock
--@include keys
--@include check_schema
--@include check_group_types
--@include allow_when_full
--@include turns
local group, text, behind = ARGV[2], ARGV[3], ARGV[4]
-- A producer may not run a command of `turns`: so it is refused before anything has changed.
if group == '' then
  -- Until all groups have been looked at the end of each lease lets its group in, whatever these limits say.
  call('HSET', limits, '', (text == '' and '- - - 1 0 -' or text) .. ' !')
elseif text == '' then
  call('HDEL', limits, group)
else
  call('HSET', limits, group, text)
end
has_limits = true
local names, from = { group }, behind == '' and '-' or '(' .. behind .. '\nx'
if group == '' then
  -- Nobody knows which groups the limits before have kept out of the line, or in the future of it: all are looked at.
  for n = 1, LOOKS do
    local entry = call('ZRANGEBYLEX', groups, from, '+', 'LIMIT', 0, 1)[1]
    names[n] = entry and string.match(entry, '^[^\n]*')
    if not entry then break end
    from = '(' .. names[n] .. '\nx'
  end
end
learn(names)
write_off()
local turns, words = {}, {}
for n, name in ipairs(names) do
  words[n] = name .. '\n' -- its turn begins anew
  local turn = look_at(name, now)
  if turn.free > 0 then read_on(turn, 1) end
  turns[n] = { turn, tonumber(call('ZSCORE', line, name)) or now }
  if turns[n][2] > now then turns[n][2] = now end
end
if words[1] then call('HDEL', limits, unpack(words)) end
local soonest = turns[1] and stand(turns)
if soonest then
  --@include wake
  wake(soonest)
end
if group == '' then
  if names[LOOKS] then return { 'MORE', names[LOOKS] } end
  if text == '' then call('HDEL', limits, '') else call('HSET', limits, '', text) end
end
return { 'OK' }
