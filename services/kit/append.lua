#!lua name=waystation
-- Stores one entry with all that becomes true with it, or nothing at all: the only writer of streams.
--
-- KEYS: stream, outbox, deadlines, streams, seed; all in one partition.
-- ARGV: the stream's name, the match's id, expected version and hash, the entry's body and hash, at (UTC ms),
--       deadline (UTC ms, '0' to clear, '' to keep), seed ('' for none).
-- Reply: the version found. It equals the expected one when the entry was stored; -1 when the version was
--        as expected and the hash was not.

local function append(keys, args)
  local stream, outbox, deadlines, streams, seed = unpack(keys)
  local name, match, expected, expected_hash, body, hash, at, deadline, secret = unpack(args)

  -- The last entry itself, not the stream's last generated id: only that proves what is stored.
  local last = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
  local found = last and tonumber(string.match(last[1], '^%d+')) or 0
  if found ~= tonumber(expected) then return found end
  if last and last[2][4] ~= expected_hash then return -1 end

  -- XADD comes first: it is the only call here that can fail, and must do so before anything is written.
  local version = found + 1
  redis.call('XADD', stream, version .. '-0', 'e', body, 'h', hash)
  redis.call('ZADD', outbox, at, name .. ':' .. version)
  if deadline == '0' then
    redis.call('ZREM', deadlines, match)
  elseif deadline ~= '' then
    redis.call('ZADD', deadlines, deadline, match)
  end
  if found == 0 then
    redis.call('SADD', streams, name)
    if secret ~= '' then redis.call('SET', seed, secret) end
  end
  return found
end

-- The number rises whenever arguments or reply change: workers of two releases then never call each
-- other's function, they only load their own again.
redis.register_function('waystation_append_1', append)
