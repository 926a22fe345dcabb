#!lua name=waystation_projection

-- Replaces a match's summary and its places in lists, if nobody else did meanwhile.
-- KEYS: the hash of summaries. ARGV: match, expected summary ('' for none), new summary,
--       number of lists to leave, their keys, then key and score of each list to stand in.
-- Returns 1, or 0 if the summary is not the expected one.
local function put_summary(keys, args)
    local stored = redis.call('HGET', keys[1], args[1]) or ''
    if stored ~= args[2] then
        return 0
    end
    redis.call('HSET', keys[1], args[1], args[3])
    local leaving = tonumber(args[4])
    for n = 5, 4 + leaving do
        redis.call('ZREM', args[n], args[1])
    end
    for n = 5 + leaving, #args, 2 do
        redis.call('ZADD', args[n], args[n + 1], args[1])
    end
    return 1
end

redis.register_function('put_summary', put_summary)
