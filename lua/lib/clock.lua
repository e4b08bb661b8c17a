-- lib/clock.lua: the one clock, in microseconds since 1970. ARGV[1] is an offset that only tests set.
local call, try = redis.call, redis.pcall
local time = call('TIME')
local now = time[1] * 1000000 + time[2] + ARGV[1]
local function int(number) return string.format('%d', number) end
