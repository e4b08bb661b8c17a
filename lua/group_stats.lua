-- group_stats.lua: to be written
return 'OK'
