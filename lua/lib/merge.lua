-- lib/merge.lua: a page of the delayed jobs of `waiting` and `prioritized`, which each have their own order. Finds by bisection how
-- many of those before the page are in `waiting`.
--@include less
local function merge_delayed(due_now, offset, limit)
  local prioritized_now = call('ZCOUNT', prioritized, '-inf', int(now))
  local many, others = call('ZCARD', waiting) - due_now, call('ZCARD', prioritized) - prioritized_now
  local function at(key, rank)
    local found = call('ZRANGE', key, rank, rank, 'WITHSCORES')
    return found[1] and { found[1], found[2] + 0 }
  end
  local function is_before(a, b) return a[2] < b[2] or a[2] == b[2] and is_less(a[1], b[1]) end
  local low, high = math.max(0, offset - others), math.min(offset, many)
  while low < high do
    local mid = math.floor((low + high) / 2)
    local mine, other = at(waiting, due_now + mid), at(prioritized, prioritized_now + offset - mid - 1)
    if mine and other and is_before(mine, other) then low = mid + 1 else high = mid end
  end
  local a = call('ZRANGE', waiting, due_now + low, due_now + low + limit - 1, 'WITHSCORES')
  local b = call('ZRANGE', prioritized, prioritized_now + offset - low, prioritized_now + offset - low + limit - 1, 'WITHSCORES')
  local page, i, j = {}, 1, 1
  while #page < limit and (a[i] or b[j]) do
    local mine, other = a[i] and { a[i], a[i + 1] + 0 }, b[j] and { b[j], b[j + 1] + 0 }
    if mine and (not other or is_before(mine, other)) then
      page[#page + 1], i = mine, i + 2
    else
      page[#page + 1], j = other, j + 2
    end
  end
  return page
end
