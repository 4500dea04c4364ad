-- Changes items of the long-term memory, all or none.
--
-- KEYS: namespaces, expiry, then for each change the items of its namespace, and two for changes.lua. ARGV: now in milliseconds, whether expired
-- items are not seen ('1'), then for each change what it is, the namespace, the key and what it needs: 'put' when it
-- expires (0: never) and its text; 'touch' when it expires; 'remove' nothing; 'sweep' nothing (removed if it has expired);
-- 'renew' the text that was read and the text that takes its place. The answer is how many items were removed, or had
-- another text meanwhile.
local namespaces, expiry = KEYS[1], KEYS[2]
local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end
local now, unseen = tonumber(take()), take() == '1'
local removed, changed = 0, false

for n = 3, #KEYS - 2 do
  local items = KEYS[n]
  local what, namespace, key = take(), take(), take()
  local member = namespace .. '\0' .. key
  local old = redis.call('HGET', items, key)
  local created, expires, text
  if old then
    created, expires, text = string.match(old, '^(%d+) (%d+)\n(.*)$')
  end
  local over = expires and expires ~= '0' and tonumber(expires) <= now
  if what == 'put' then
    local new_expires, new_text = take(), take()
    if not created or (over and unseen) then
      created = string.format('%.0f', now)
    end
    redis.call('HSET', items, key, created .. ' ' .. new_expires .. '\n' .. new_text)
    redis.call('ZADD', namespaces, 0, namespace)
    changed = true
    if new_expires == '0' then
      redis.call('ZREM', expiry, member)
    else
      redis.call('ZADD', expiry, new_expires, member)
    end
  elseif what == 'touch' then
    local new_expires = take()
    -- What somebody else has made last for ever since it was read stays so.
    if created and expires ~= '0' then
      redis.call('HSET', items, key, created .. ' ' .. new_expires .. '\n' .. text)
      redis.call('ZADD', expiry, new_expires, member)
    end
  elseif what == 'renew' then
    local read, new_text = take(), take()
    if text == read then
      redis.call('HSET', items, key, created .. ' ' .. expires .. '\n' .. new_text)
      changed = true
    else
      removed = removed + 1
    end
  elseif what == 'remove' or over or not old then
    local gone = redis.call('HDEL', items, key)
    removed = removed + gone
    changed = changed or gone > 0
    redis.call('ZREM', expiry, member)
    if redis.call('HLEN', items) == 0 then
      redis.call('ZREM', namespaces, namespace)
    end
  end
end
if changed then
  tell_others()
end
return removed
