-- Stores commits of one thread, each as a whole or not at all.
--
-- KEYS: the thread's facts, index, heads, values, writes, open tasks; then places, threads, expiry, waiting, asking, and two for changes.lua.
-- ARGV: thread, milliseconds to live (0: for ever), a new epoch, the epoch the caller relies on ('' for none), how many
-- commits; then what each needs. The answer is the epoch and, for each commit, 'ok', 'there' (done, but the checkpoint was
-- stored before), 'orphan N' (not done: its N-th task belongs to a checkpoint that is not stored), 'stale' (not done: the
-- caller relied on something that is gone) or, with details, 'busy' and 'old' (not done: another run has the thread). After any
-- but 'ok' nothing more is done.
local facts, index, heads, values, writes, open, places, threads, expiry, waiting, asking = unpack(KEYS)
local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end

local thread, ttl, new_epoch, relied_on, count = take(), tonumber(take()), take(), take(), tonumber(take())
local epoch, claim, claim_ends = unpack(redis.call('HMGET', facts, 'epoch', 'claim', 'until'))
if relied_on ~= '' and (epoch or new_epoch) ~= relied_on then
  return {epoch or '', 'stale'}
end

local answers = {}
local touched, changed = false, false

local function stored(key)
  return redis.call('HEXISTS', heads, key) == 1
end

-- What a task's writes say together, where it asks, has failed or withdraws what it asked.
local function note(ns, id, task, flags, line)
  local key = ns .. '\0' .. id
  local known = redis.call('HGET', open, key)
  if flags >= 2 or known then
    local tasks = known and cjson.decode(known) or {}
    if tasks[task] or flags >= 2 then
      local before = tasks[task]
      if not before then
        before = 0
        for n = 1, line - 1 do
          local old = redis.call('HGET', writes, key .. '\0' .. n)
          local said, of = string.match(old, '^(%w)([^\n]*)\n')
          if of == task then
            before = joined(before, tonumber(said, 32))
          end
        end
      end
      tasks[task] = joined(before, flags)
      redis.call('HSET', open, key, cjson.encode(tasks))
      if ns == '' and asks(before) ~= asks(tasks[task]) then
        if asks(tasks[task]) then
          list(waiting, asking, thread, id, task, redis.call('HGET', heads, key))
        else
          unlist(waiting, asking, marked(thread) .. '\0' .. id .. '\0' .. task .. '\0')
        end
      end
    end
  end
end

for n = 1, count do
  local ns = take()
  local shown = shown_claim(take)
  local put, tasks = nil, {}
  if take() == '1' then
    put = {id = take(), relies = take(), base = take(), record = take(), place = take(), ts = take(), rows = {}}
    for _ = 1, tonumber(take()) do
      put.rows[#put.rows + 1] = {take(), take()}
    end
  end
  for _ = 1, tonumber(take()) do
    tasks[#tasks + 1] = {of = take(), task = take(), flags = take(), text = take()}
  end

  local answer = 'ok'
  local new = put and ns .. '\0' .. put.id
  if put and stored(new) then
    put = nil
    answer = 'there'
  end
  if put and put.relies == '1' and not stored(ns .. '\0' .. put.base) then
    answer = 'stale'
  end
  for place, task in ipairs(tasks) do
    local key = ns .. '\0' .. task.of
    if (answer == 'ok' or answer == 'there') and key ~= new and not stored(key) then
      answer = 'orphan ' .. place
    end
  end
  local claimed
  if shown and (answer == 'ok' or answer == 'there') then
    local refused, fields = compare_claim(facts, index, shown, claim, claim_ends)
    answer, claimed = refused or answer, fields
  end
  if claimed then
    claim, claim_ends = nil, nil
  end
  answers[n] = answer
  -- That a claim lasts longer is nothing that others look for.
  changed = changed or (claimed and (shown.ends or #claimed > 2))
  if claimed and not (put or #tasks > 0) then
    note_claim(facts, shown, claimed, epoch)
  end
  if (answer == 'ok' or answer == 'there') and (put or #tasks > 0) then
    if not epoch then
      epoch = new_epoch
      redis.call('HSET', facts, 'epoch', epoch)
      redis.call('PERSIST', facts)
      redis.call('HSET', threads, thread, '')
      unlist(waiting, asking, marked(thread) .. '\0')
    end
    touched = true
    if claimed then
      note_claim(facts, shown, claimed, epoch)
    end
    redis.call('HINCRBY', facts, 'changes', 1)
    if put then
      redis.call('HSET', heads, new, put.record)
      redis.call('ZADD', index, 0, new)
      for _, row in ipairs(put.rows) do
        redis.call('HSET', values, row[1], row[2])
      end
      if ns == '' then
        redis.call('HINCRBY', facts, 'roots', 1)
        if redis.call('ZRANGE', index, '(\1', '[\0', 'BYLEX', 'REV', 'LIMIT', 0, 1)[1] == new then
          local before = redis.call('HGET', threads, thread)
          if before and before ~= '' then
            redis.call('ZREM', places, before)
          end
          redis.call('ZADD', places, 0, put.place)
          redis.call('HSET', threads, thread, put.place)
        end
        if redis.call('ZRANGE', index, '[\0', '(\1', 'BYLEX', 'LIMIT', 0, 1)[1] == new then
          redis.call('HSET', facts, 'created', put.ts)
        end
      end
    end
    for _, task in ipairs(tasks) do
      local key = ns .. '\0' .. task.of
      local line = redis.call('HINCRBY', writes, key, 1)
      redis.call('HSET', writes, key .. '\0' .. line, task.flags .. task.task .. '\n' .. task.text)
      note(ns, task.of, task.task, tonumber(task.flags, 32), line)
    end
  end
  if answer ~= 'ok' then
    break
  end
end

if touched or changed then
  tell_others()
end
if touched and ttl > 0 then
  local now = redis.call('TIME')
  for n = 1, 6 do
    redis.call('PEXPIRE', KEYS[n], ttl)
  end
  redis.call('ZADD', expiry, now[1] * 1000 + math.floor(now[2] / 1000) + ttl, thread)
end
table.insert(answers, 1, epoch or '')
return answers
