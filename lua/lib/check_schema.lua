-- lib/check_schema.lua: meets the list that a newer schema leaves at `waiting` (WRONGTYPE), in a script that would not look there.
call('ZCARD', waiting)
