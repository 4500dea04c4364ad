-- Number of changes of other programs. KEYS: how many there were, how many by this program.
local all, own = redis.call('GET', KEYS[1]), redis.call('GETEX', KEYS[2], 'EX', 86400)
return tonumber(all or 0) - tonumber(own or 0)
