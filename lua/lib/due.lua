-- lib/due.lua: the due time in a record, behind its stamp (layout in lua/README.md): so many milliseconds after the stamp's own, in 3 bytes;
-- when it is earlier, or so late that they cannot hold it, they are FAR and the time itself is behind them. A stamp's first 6 bytes are
-- units of 8 µs since 2020.
local FAR = 16777215
local function stamped_at(units) return (units - units % 125) / 125 + 1577836800000 end

-- Where the options begin, or the payload of a record that has none.
local function body_at(record) return #record >= 10 and struct.unpack('>I3', record, 8) == FAR and 17 or 11 end
local function pack_due(units, due)
  local after = due - stamped_at(units)
  if after >= 0 and after < FAR then return struct.pack('>I3', after) end
  return struct.pack('>I3I6', FAR, math.max(0, due))
end
-- In ms; 0 when the record is too short to have one.
local function unpack_due(record)
  if #record < body_at(record) - 1 then return 0 end
  local units, after = struct.unpack('>I6xI3', record)
  return after < FAR and stamped_at(units) + after or struct.unpack('>I6', record, 11)
end
