-- lib/reclaim.lua: takes back jobs whose lease ran out (lib/take_back.lua). True: more are left, and the script answers AGAIN.
--@include take_back
--@include wake
local function reclaim(only_looks)
  local is_more, is_let_in = take_back(only_looks)
  if is_let_in then wake(now) end
  return is_more
end
