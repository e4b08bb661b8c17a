-- rate_limit.lua: to be written
return 'OK'
