-- Puts the tasks of a thread that ask into the lists, after those of its questions that a new input came after were
-- withdrawn: what an older release stored is not in them.
--
-- KEYS: as commit.lua. ARGV: the thread.
local heads, open, waiting, asking = KEYS[3], KEYS[6], KEYS[10], KEYS[11]
unlist(waiting, asking, marked(ARGV[1]) .. '\0')
local tasks = redis.call('HGETALL', open)
for n = 1, #tasks, 2 do
  local id = string.match(tasks[n], '^%z(.*)$')
  local record = id and redis.call('HGET', heads, tasks[n])
  if record then
    for task, flags in pairs(cjson.decode(tasks[n + 1])) do
      if asks(flags) and task ~= '00000000-0000-0000-0000-000000000000' then
        list(waiting, asking, ARGV[1], id, task, record)
      end
    end
  end
end
return 1
