-- lib/head.lua: the ledger's field `head`, what every reserve reads and writes: kind 1 (schema × 16; 1: priorities are in use;
-- 2: paused) · last token 6 · acknowledged 6 · expiry 6: no lease ends before (ms; 0: unknown); then, if jobs were handed out that
-- `late<bucket>` has not counted, bucket 1 · how many 4.
local uncounted = ''
local function read_head()
  local packed = call('HGET', ledger, 'head')
  if not packed or #packed < 19 then return 16, 0, 0, 0 end
  uncounted = string.sub(packed, 20)
  return struct.unpack('>BI6I6I6', packed)
end
local function head_of(kind, token, acknowledged, expiry)
  return struct.pack('>BI6I6I6', kind, token, acknowledged, expiry) .. uncounted
end
local function write_head(...) call('HSET', ledger, 'head', head_of(...)) end
local function set_kind(bit, is_set)
  local kind, token, acknowledged, expiry = read_head()
  local has = kind % (bit * 2) >= bit
  if has ~= is_set then write_head(kind + (is_set and bit or -bit), token, acknowledged, expiry) end
end
-- A lease ends then: nobody may believe that none ends before.
local function ends_at(deadline)
  local kind, token, acknowledged, expiry = read_head()
  if deadline < expiry then write_head(kind, token, acknowledged, deadline) end
end
