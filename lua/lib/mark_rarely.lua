-- lib/mark_rarely.lua: how the lease of a job of a group, or of a queue that has limits, is marked, and the group behind it.
local job = of and of[id]
local more = (job and 'g' or '') .. (cap and 'l' or '')
if more ~= '' then mark = (past == '' and '' or 'h') .. more .. (n == 1 and ' ' or 'a ') end
if job then group = ' ' .. job[4].group end
