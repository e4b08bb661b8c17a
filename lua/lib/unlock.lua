-- lib/unlock.lua: settling must work while Redis refuses memory. Redis checks OOM only until the first
-- write of a script, so that is a ZREM of nothing; it also meets READONLY, MISCONF and WRONGTYPE before any effect.
call('ZREM', reserved, '')
