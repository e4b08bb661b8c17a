-- limit_groups.lua: to be written
return 'OK'
