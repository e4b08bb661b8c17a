-- lib/keys.lua: the ten keys of a queue, in the order every script with "KEYS all" gets them.
local jobs, waiting, reserved, ledger, history = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local buried, waiters, later, ready, ripe = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
