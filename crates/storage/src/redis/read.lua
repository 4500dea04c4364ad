-- The records of checkpoints with those that they build on, and the writes of their tasks.
--
-- KEYS: the thread's facts, index, heads, writes. ARGV: 'newest' and a namespace, or 'these' and checkpoints as the index
-- has them. The answer: the epoch; the checkpoints that are there; checkpoint and record by turns, each once; for each
-- checkpoint its lines of writes.
local facts, index, heads, writes = unpack(KEYS)
local wanted = {}
if ARGV[1] == 'newest' then
  wanted = redis.call('ZRANGE', index, '(' .. ARGV[2] .. '\1', '[' .. ARGV[2] .. '\0', 'BYLEX', 'REV', 'LIMIT', 0, 1)
else
  for n = 2, #ARGV do
    wanted[n - 1] = ARGV[n]
  end
end

local there, records, lines, sent = {}, {}, {}, {}
for _, key in ipairs(wanted) do
  local record = redis.call('HGET', heads, key)
  if record then
    there[#there + 1] = key
    local ns = string.match(key, '^(.-)%z')
    local at = key
    while record and not sent[at] do
      sent[at] = true
      records[#records + 1] = at
      records[#records + 1] = record
      local base = string.match(record, '^+([^\n]*)\n')
      if not base then
        break
      end
      at = ns .. '\0' .. base
      record = not sent[at] and redis.call('HGET', heads, at)
    end
    local own = {}
    for n = 1, tonumber(redis.call('HGET', writes, key) or 0) do
      own[n] = redis.call('HGET', writes, key .. '\0' .. n)
    end
    lines[#lines + 1] = own
  end
end
return {redis.call('HGET', facts, 'epoch') or '', there, records, lines}
