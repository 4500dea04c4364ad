-- The claims of threads. KEYS: the facts of each. The answer has for each: claim, holder, name, number, milliseconds left and
-- whether its run has ended it; nothing where there is none.
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
local found = {}
for n, facts in ipairs(KEYS) do
  local had = redis.call('HMGET', facts, 'claim', 'holder', 'name', 'number', 'until')
  if had[1] then
    local ends_at = tonumber(had[5])
    found[n] = {had[1], had[2], had[3], tonumber(had[4]), math.max(ends_at - now, 0), ends_at == 0 and 1 or 0}
  else
    found[n] = {}
  end
end
return found
