-- lib/merge.lua: pages of several sorted sets as if they were one, by score and member. A part is { key, first, many } of one set, or { a, b, many } of
-- two parts. Finds by bisection how many of those before a page are in the first of them.
--@include less
local function part_of(key, first, many) return { key = key, first = first, many = many } end
local function both(a, b)
  if a.many == 0 then return b end
  if b.many == 0 then return a end
  return { a = a, b = b, many = a.many + b.many }
end
local function is_before(one, other) return one[2] < other[2] or one[2] == other[2] and is_less(one[1], other[1]) end
-- Entries of a part from a rank on: member and score of each.
local function page_of(part, offset, limit)
  local found = {}
  if part.key then
    local last = math.min(offset + limit, part.many) - 1
    local all = last >= offset and call('ZRANGE', part.key, int(part.first + offset), int(part.first + last), 'WITHSCORES') or {}
    for n = 1, #all, 2 do found[#found + 1] = { all[n], all[n + 1] + 0 } end
    return found
  end
  local low, high = math.max(0, offset - part.b.many), math.min(offset, part.a.many)
  while low < high do
    local mid = math.floor((low + high) / 2)
    local mine, other = page_of(part.a, mid, 1)[1], page_of(part.b, offset - mid - 1, 1)[1]
    if mine and other and is_before(mine, other) then low = mid + 1 else high = mid end
  end
  local mine, others, i, j = page_of(part.a, low, limit), page_of(part.b, offset - low, limit), 1, 1
  while #found < limit and (mine[i] or others[j]) do
    if mine[i] and (not others[j] or is_before(mine[i], others[j])) then
      found[#found + 1], i = mine[i], i + 1
    else
      found[#found + 1], j = others[j], j + 1
    end
  end
  return found
end
