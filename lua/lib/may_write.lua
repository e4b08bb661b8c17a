-- lib/may_write.lua: whether Redis takes writes of this user now. It may be read-only or out of disk, or the user may have no right.
local function may_write() return type(try('ZREM', reserved, '')) == 'number' end
