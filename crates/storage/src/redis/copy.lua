-- Copies a thread to one that is not there. The answer is 1, or 0 when it is.
--
-- KEYS: the six of the source, the six of the copy, then places, threads, expiry, waiting, asking, and two for changes.lua. ARGV: source, copy, a new epoch, the
-- place of the copy ('' without a root checkpoint), the source's epoch and number of changes, milliseconds to live.
local places, threads, expiry, waiting, asking = KEYS[13], KEYS[14], KEYS[15], KEYS[16], KEYS[17]
if redis.call('HEXISTS', threads, ARGV[2]) == 1 and redis.call('EXISTS', KEYS[7]) == 1 then
  return 0
end
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[5] or redis.call('HGET', KEYS[1], 'changes') ~= ARGV[6] then
  return -1
end
for n = 1, 6 do
  redis.call('COPY', KEYS[n], KEYS[n + 6], 'REPLACE')
end
redis.call('HDEL', KEYS[7], 'claim', 'number', 'holder', 'name', 'until')
redis.call('HSET', KEYS[7], 'epoch', ARGV[3])
redis.call('HSET', threads, ARGV[2], ARGV[4])
if ARGV[4] ~= '' then
  redis.call('ZADD', places, 0, ARGV[4])
end
local from, to = marked(ARGV[1]) .. '\0', marked(ARGV[2])
unlist(waiting, asking, to .. '\0')
for _, member in ipairs(redis.call('ZRANGE', asking, '[' .. from, '(' .. from .. '\255', 'BYLEX')) do
  local id, rest = string.match(member, '^[^%z]*%z([^%z]*)(%z.*)$')
  redis.call('ZADD', waiting, 0, id .. '\0' .. to .. rest)
  redis.call('ZADD', asking, 0, to .. '\0' .. id .. rest)
end
local ttl = tonumber(ARGV[7])
if ttl > 0 then
  local now = redis.call('TIME')
  for n = 7, 12 do
    redis.call('PEXPIRE', KEYS[n], ttl)
  end
  redis.call('ZADD', expiry, now[1] * 1000 + math.floor(now[2] / 1000) + ttl, ARGV[2])
end
tell_others()
return 1
