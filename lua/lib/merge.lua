-- lib/merge.lua: a page of the delayed jobs by due time, out of `waiting` (default priority) and `later` (others).
-- The number of entries of `waiting` before the page is found by bisection, so a far page costs no more than a near one.
local function merge_delayed(offset, limit)
  local first = call('ZCOUNT', waiting, '-inf', int(now)) -- rank of the first delayed one
  local first_later = call('ZCOUNT', later, '-inf', int(now))
  local many, others = call('ZCARD', waiting) - first, call('ZCARD', later) - first_later
  local function at(key, rank)
    local found = call('ZRANGE', key, rank, rank, 'WITHSCORES')
    return found[1] and { found[2] + 0, string.sub(found[1], 1, 7) }
  end
  local function before(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end
  local low, high = math.max(0, offset - others), math.min(offset, many)
  while low < high do -- the least number taken from `waiting` such that its next entry is not before the page's start
    local mid = math.floor((low + high) / 2)
    local mine, other = at(waiting, first + mid), offset - mid >= 1 and at(later, first_later + offset - mid - 1)
    if other and mine and before(mine, other) then low = mid + 1 else high = mid end
  end
  local a = call('ZRANGE', waiting, first + low, first + low + limit - 1, 'WITHSCORES')
  local b = call('ZRANGE', later, first_later + offset - low, first_later + offset - low + limit - 1, 'WITHSCORES')
  local page, i, j = {}, 1, 1
  while #page < limit and (a[i] or b[j]) do
    local mine = a[i] and { a[i + 1] + 0, string.sub(a[i], 1, 7) }
    local other = b[j] and { b[j + 1] + 0, string.sub(b[j], 1, 7) }
    if mine and (not other or before(mine, other)) then
      page[#page + 1], i = { string.sub(a[i], 8), mine[1] }, i + 2
    else
      page[#page + 1], j = { string.sub(b[j], 12), other[1] }, j + 2
    end
  end
  return page
end
