-- Tells other programs of a change. The last two keys count all changes and those of this program, whose key a program that
-- has ended leaves for a day. A server without memory, which still removes, may refuse it.
local function tell_others()
  redis.pcall('INCR', KEYS[#KEYS - 1])
  if redis.pcall('INCR', KEYS[#KEYS]) == 1 then
    redis.pcall('EXPIRE', KEYS[#KEYS], 86400)
  end
end

