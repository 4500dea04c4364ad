-- The writes of the tasks of checkpoints.
--
-- KEYS: for each checkpoint the writes of its thread. ARGV: for each the checkpoint as the index has it. The answer: for
-- each its lines of writes.
local all = {}
for place, writes in ipairs(KEYS) do
  local lines = {}
  for n = 1, tonumber(redis.call('HGET', writes, ARGV[place]) or 0) do
    lines[n] = redis.call('HGET', writes, ARGV[place] .. '\0' .. n)
  end
  all[place] = lines
end
return all
