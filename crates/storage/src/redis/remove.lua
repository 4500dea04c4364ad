-- Removes checkpoints of a thread that is still as the caller read it, or the whole thread.
--
-- KEYS: as commit.lua. ARGV: thread, a new epoch, the epoch and the number of changes the caller read ('' and '': remove
-- everything; 'gone' and '': everything, if it has run out of time; both with what is shown of a claim, if anything, and
-- then the answer is the refusal, if it is refused); 'plan' or 'do'; then the new place and creation time
-- of the thread, the number of its root checkpoints that stay, and three counted lists: checkpoints to remove, rows of
-- values to remove, checkpoints with the records to write. The answer is the number of changes of the thread
-- and the bytes that go (less than nothing when more was written), or nothing when the thread has changed. What goes at once
-- is for the caller to bound: the server does nothing else meanwhile.
local facts, index, heads, values, writes, open, places, threads, expiry, waiting, asking = unpack(KEYS)
local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end
local thread, new_epoch, epoch, changes = take(), take(), take(), take()

local function everything()
  local place = redis.call('HGET', threads, thread)
  if place and place ~= '' then
    redis.call('ZREM', places, place)
  end
  local listed = redis.call('HDEL', threads, thread)
  redis.call('ZREM', expiry, thread)
  unlist(waiting, asking, marked(thread) .. '\0')
  if redis.call('UNLINK', facts, index, heads, values, writes, open) + listed > 0 then
    tell_others()
  end
end

if changes == '' then
  local shown = shown_claim(take)
  local refused = shown and compare_claim(facts, index, shown)
  if refused then
    return refused
  end
  if epoch == '' or redis.call('EXISTS', facts) == 0 then
    everything()
  end
  return 0
end
if redis.call('HGET', facts, 'epoch') ~= epoch or redis.call('HGET', facts, 'changes') ~= changes then
  return {}
end

local plan = take() == 'plan'
local place, created, roots = take(), take(), take()
local bytes = 0
local function drop(hash, field)
  local size = redis.call('HSTRLEN', hash, field)
  if size > 0 then
    bytes = bytes + size + #field
    if not plan then
      redis.call('HDEL', hash, field)
    end
  end
end

for _ = 1, tonumber(take()) do
  local key = take()
  drop(heads, key)
  drop(open, key)
  for n = 1, tonumber(redis.call('HGET', writes, key) or 0) do
    drop(writes, key .. '\0' .. n)
  end
  drop(writes, key)
  if not plan then
    redis.call('ZREM', index, key)
    local id = string.match(key, '^%z(.*)$')
    if id then
      unlist(waiting, asking, marked(thread) .. '\0' .. id .. '\0')
    end
  end
end
for _ = 1, tonumber(take()) do
  drop(values, take())
end
for _ = 1, tonumber(take()) do
  local key, record = take(), take()
  bytes = bytes - (#record - redis.call('HSTRLEN', heads, key))
  if not plan then
    redis.call('HSET', heads, key, record)
  end
end
if plan then
  return {changes, bytes}
end

if redis.call('ZCARD', index) == 0 then
  everything()
  return {changes, bytes}
end
local before = redis.call('HGET', threads, thread)
if before ~= place then
  if before and before ~= '' then
    redis.call('ZREM', places, before)
  end
  if place ~= '' then
    redis.call('ZADD', places, 0, place)
  end
  redis.call('HSET', threads, thread, place)
end
redis.call('HSET', facts, 'epoch', new_epoch, 'created', created, 'roots', roots)
tell_others()
return {tostring(redis.call('HINCRBY', facts, 'changes', 1)), bytes}
