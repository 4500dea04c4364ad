-- Rows of values with the rows that they continue: number and row by turns, each once.
--
-- KEYS: the thread's values. ARGV: 'rows', 'starts' (the first line of each and how long the row is) or 'first' (the first
-- line of the rows asked for and of no others), then numbers.
local values = KEYS[1]
local rows, sent = {}, {}
for n = 2, #ARGV do
  local at = ARGV[n]
  while at ~= '0' and not sent[at] do
    sent[at] = true
    local row = redis.call('HGET', values, at)
    if not row then
      break
    end
    local start = string.match(row, '^[^\n]*\n')
    rows[#rows + 1] = at
    rows[#rows + 1] = ARGV[1] == 'rows' and row or start .. #row
    at = ARGV[1] == 'first' and '0' or string.match(start, '^%d+')
  end
end
return rows
