-- Which run has a thread: the facts `claim`, `number`, `holder`, `name` and `until` (milliseconds; 0: its run has ended it).

-- Reads from the arguments what is shown of a claim; nothing when nothing is.
local function shown_claim(take)
  local kind = take()
  if kind == '0' then
    return nil
  end
  if kind == '3' then
    return {claim = take(), stays = true}
  end
  local shown = {claim = take(), length = tonumber(take()), ends = take() == '1', ended = take() == '1'}
  if kind == '2' then
    shown.take = {
      holder = take(), name = take(), over = take(), only = take(), beside_own = take() == '1', onto = take(), seen = take()
    }
  end
  return shown
end

local function claim_clock()
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end

local function old_claim(had)
  return 'old ' .. cjson.encode(had and {holder = had[3], name = had[4]} or {})
end

-- Decides: a refusal, or nothing and what is to be noted with the commit, if anything. `claim` and `ends` are the facts `claim`
-- and `until` now.
local function compare_claim(facts, index, shown, claim, ends)
  if shown.stays and claim == shown.claim and ends ~= '0' then
    return nil
  end
  local had = redis.call('HMGET', facts, 'claim', 'number', 'holder', 'name', 'until')
  if not had[1] then
    had = nil
  end
  if shown.stays then
    return old_claim(had and had[1] ~= shown.claim and had)
  end
  local now = claim_clock()
  local ends_at = had and tonumber(had[5]) or 0
  local until_then = shown.ends and 0 or now + shown.length
  if had and had[1] == shown.claim then
    if ends_at == 0 then
      if shown.ends or shown.ended then
        return nil
      end
      return old_claim(nil)
    end
    local left = math.max(ends_at - now, 0)
    if shown.ends or left < shown.length * 2 / 3 or left > shown.length then
      return nil, {'until', string.format('%.0f', until_then)}
    end
    return nil
  end
  local take = shown.take
  if not take then
    return old_claim(had)
  end
  if ends_at > now then
    if take.beside_own and had[3] == take.holder then
      return nil
    end
    if take.over ~= 'always' and not (take.over == 'only' and take.only == had[1]) then
      return 'busy ' .. cjson.encode({
        claim = had[1], number = tonumber(had[2]), holder = had[3], name = had[4], remaining = ends_at - now
      })
    end
  end
  local mark = had and 2 * tonumber(had[2]) + (ends_at == 0 and 1 or 0) or 0
  if take.seen ~= '' and tonumber(take.seen) ~= mark then
    return old_claim(had)
  end
  if take.onto ~= '' then
    local newest = redis.call('ZRANGE', index, '(\1', '[\0', 'BYLEX', 'REV', 'LIMIT', 0, 1)[1]
    if take.onto ~= '=' .. (newest and string.sub(newest, 2) or '') then
      return old_claim(had)
    end
  end
  return nil, {
    'claim', shown.claim, 'number', had and tonumber(had[2]) + 1 or 1, 'holder', take.holder, 'name', take.name,
    'until', string.format('%.0f', until_then)
  }
end

-- Notes what was decided. Where nothing is stored in the thread, an ended claim goes, and another after a day.
local function note_claim(facts, shown, fields, epoch)
  redis.call('HSET', facts, unpack(fields))
  if epoch then
    if #fields > 2 then
      redis.call('HINCRBY', facts, 'changes', 1)
    end
  elseif shown.ends then
    redis.call('DEL', facts)
  else
    redis.call('PEXPIRE', facts, string.format('%.0f', shown.length + 86400000))
  end
end
