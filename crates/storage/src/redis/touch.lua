-- A thread that was read lives on. KEYS: its six, then expiry. ARGV: thread, milliseconds to live.
if redis.call('EXISTS', KEYS[1]) == 1 then
  local now = redis.call('TIME')
  for n = 1, 6 do
    redis.call('PEXPIRE', KEYS[n], ARGV[2])
  end
  redis.call('ZADD', KEYS[7], now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[2], ARGV[1])
end
return 1
