-- reschedule.lua: a delayed, ready or buried job gets a new time. One that a consumer holds comes back by then, unless it fails or ends.
-- KEYS    all
-- ARGV[1] clock offset (µs)   ARGV[2] id   ARGV[3] due: a delay (µs), or '@' and a moment   ARGV[4] 1: also one that is held
-- Returns {"OK", due} | {"MISSING"} not there, or held | {"AGAIN"} a bounded part of the housekeeping is done
-- Cost    O(log N)
--@include clock
--@include due_at
--@include keys
--@include record
--@include history
--@include place
--@include lease
--@include bury
--@include reclaim
--@include move
-- With one more trait, in front of the others.
local function with_trait(record, kind, value)
  local at, trait = read_options(record), kind .. string.char(#value) .. value
  if has_traits(string.byte(record)) then
    local length = struct.unpack('>I2', record, at + 1)
    return string.sub(record, 1, at) .. struct.pack('>I2', length + #trait) .. trait .. string.sub(record, at + 3)
  end
  return string.char(string.byte(record) + HAS_TRAITS) .. string.sub(record, 2, at) .. struct.pack('>I2', #trait) .. trait
    .. string.sub(record, at + 1)
end
if reclaim() then return { 'AGAIN' } end
local id = ARGV[2]
local record = call('HGET', jobs, id)
local old_due, where = waits(id)
local is_held = ARGV[4] == '1' and call('ZSCORE', reserved, id)
if not options(record or '') or not is_held and not old_due and not call('ZSCORE', buried, id) then return { 'MISSING' } end
--@include check_types
--@include check_group_types
--@include allow_when_full
local due = due_at(ARGV[3])
if is_held then
  local _, unasked = asked_for(record)
  call('HSET', jobs, id, with_trait(unasked or record, 'h', struct.pack('>I8', math.max(due, 0))))
  return { 'OK', int(due) }
end
move(id, record, due, old_due, where)
return { 'OK', int(due) }
