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

-- Claims a new generation, unless one is being filled.
-- KEYS: the present number, the claimed one, the last one given. ARGV: how long the claim lasts, in ms.
-- Returns the claimed number, or 0.
local function claim_generation(keys, args)
    -- A claim always ends by itself. One that does not was left by an older release, and nobody fills it.
    if redis.call('PTTL', keys[2]) >= 0 then
        return 0
    end
    local present = tonumber(redis.call('GET', keys[1]) or 1)
    -- An older release counted on from the present one only, and may have left that number half filled.
    local given = tonumber(redis.call('GET', keys[3]) or present + 1)
    local number = math.max(present, given) + 1
    redis.call('SET', keys[3], number)
    redis.call('SET', keys[2], number, 'PX', args[1])
    return number
end

-- The functions of a claim. KEYS: the claimed number. ARGV: the claim's.
-- Each returns 1, or 0 if the claim has lapsed.

-- ARGV[2]: how long it lasts from now on, in ms.
local function renew_claim(keys, args)
    if redis.call('GET', keys[1]) ~= args[1] then
        return 0
    end
    return redis.call('PEXPIRE', keys[1], args[2])
end

-- KEYS[2]: the present number.
local function fulfil_claim(keys, args)
    if redis.call('GET', keys[1]) ~= args[1] then
        return 0
    end
    redis.call('SET', keys[2], args[1])
    return redis.call('DEL', keys[1])
end

local function give_up_claim(keys, args)
    if redis.call('GET', keys[1]) ~= args[1] then
        return 0
    end
    return redis.call('DEL', keys[1])
end

redis.register_function('put_summary', put_summary)
redis.register_function('claim_generation', claim_generation)
redis.register_function('renew_claim', renew_claim)
redis.register_function('fulfil_claim', fulfil_claim)
redis.register_function('give_up_claim', give_up_claim)
