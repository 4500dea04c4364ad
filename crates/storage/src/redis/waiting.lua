-- Tasks of outermost graphs whose questions wait, in two sorted lists: by checkpoint (id, thread, task, time) and by thread
-- (thread, id, task, time), the parts with a zero between. Each byte of a thread's name is one more, so that no zero is in it.
local function marked(thread)
  return (string.gsub(thread, '.', function(c) return string.char(string.byte(c) + 1) end))
end

-- What the flags of a task's writes add up to: 1 finished, 2 asked, 4 failed, 8 withdrawn, which 16, asked again, takes back.
local function joined(before, flags)
  if bit.band(flags, 16) > 0 then
    before = bit.band(before, bit.bnot(8))
  end
  return bit.bor(before, bit.band(flags, 15))
end

local function asks(flags)
  return bit.band(flags, 11) == 2
end

local function list(by_id, by_thread, thread, id, task, record)
  local time = record and string.match(record, '"ts":"([^"\\]*)"') or ''
  local rest = '\0' .. task .. '\0' .. time
  local mark = marked(thread)
  redis.call('ZADD', by_id, 0, id .. '\0' .. mark .. rest)
  redis.call('ZADD', by_thread, 0, mark .. '\0' .. id .. rest)
end

-- Takes off both lists what begins so in the second: a thread, a checkpoint of it, or a task of that.
local function unlist(by_id, by_thread, start)
  for _, member in ipairs(redis.call('ZRANGE', by_thread, '[' .. start, '(' .. start .. '\255', 'BYLEX')) do
    local mark, id, rest = string.match(member, '^([^%z]*)%z([^%z]*)(%z.*)$')
    redis.call('ZREM', by_id, id .. '\0' .. mark .. rest)
    redis.call('ZREM', by_thread, member)
  end
end

