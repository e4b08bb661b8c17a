-- lib/allow_when_full.lua: Redis refuses writes that need memory until the script has made its first write. This one needs none, so
-- the script works in a full Redis. It also meets READONLY and MISCONF before anything has changed.
call('ZREM', reserved, '')
