-- groups.lua: to be written
return 'OK'
