-- lib/clock.lua: the one clock. ARGV[1] is an offset in ms that only tests set.
local call, try = redis.call, redis.pcall
local time = call('TIME')
local now_us = time[1] * 1000000 + time[2] + ARGV[1] * 1000
local now = math.floor(now_us / 1000)
local function int(number) return string.format('%d', number) end
-- The due time (ms) of a delay: rounded up, so that it is never early; no delay is due now.
local function due_in(delay) return delay == '0' and now or math.ceil(now_us / 1000) + delay end
