-- list_group.lua: to be written
return 'OK'
