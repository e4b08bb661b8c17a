-- lib/keys.lua: the keys of a queue, in the order in which every script with "KEYS all" gets them.
local jobs, waiting, reserved, leases, meta = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local history, buried, waiters, prioritized, prioritized_ready = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local grouped, groups, line, limits, spent = KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15]
