-- limit_queue.lua: to be written
return 'OK'
