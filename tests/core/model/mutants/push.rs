//! Mistakes in pushing jobs.

use super::Mutant;

/// The walk finds them.
pub const BY_THE_WALK: &[Mutant] = &[
    ("push.lua", "now + (n - 3) / width + due", "now + due"), // a batch loses its order
    ("push.lua", "due = string.sub(due, 2) + 0", "due = now"), // moments are forgotten
    ("push.lua", "if due < now then", "if false then"),       // lateness of a passed moment counts from that
    ("push.lua", "string.char(string.byte(record) + 2) .. string.sub(record, 2)", "record"), // the same
    ("push.lua", "string.sub(call('HGET', jobs, id), 2) == string.sub(record, 2) then", "false then"), // does not know its own job
    ("push.lua", "and string.sub(call('HGET', jobs, id), 2) == string.sub(record, 2) then", "then"), // takes another's job for its own
    ("push.lua", "if duplicate then return { 'DUPLICATE', duplicate } end", ""), // adds the rest of a refused push
    ("push.lua", "if call('HEXISTS', jobs, id) == 0 then", "if call('HEXISTS', jobs, id) == 0 or mode == 'keep' then"), // overwrites a job that it should keep
    ("push.lua", "call('ZADD', waiting, 'NX', ", "call('ZADD', waiting, "), // moves a job
    ("push.lua", "redis.pcall('HSETNX', jobs", "redis.pcall('HSET', jobs"), // overwrites a job
    ("push.lua", "if is_placed then call('ZREM', waiting, ARGV[3]) end", ""), // it has two places
    ("push.lua", "soonest = now + ARGV[5]", "soonest = now"),               // forgets the delay
    ("push_any.lua", "if mode == 'fail' then return { 'DUPLICATE', id } end", ""),
    ("push_any.lua", "if not may_replace then", "if false then"),
    ("push_any.lua", "if type(lease) ~= 'string' then return { 'RESERVED', id } end", ""),
    ("push_any.lua", "if old then renewed[#renewed + 1] = id end", ""),
    ("push_any.lua", "replaced = replaced + 1", ""),
    ("push_any.lua", "call('HDEL', history, unpack(renewed))", ""), // replacing keeps attempts
    ("push_any.lua", "call('ZREM', buried, unpack(renewed))", ""),  // a replaced buried job is in two states
    ("push_any.lua", "due_at(ARGV[6 * n], n - 1)", "due_at(ARGV[6 * n])"), // a batch loses its order
    ("push_any.lua", "due, group, old_due, where,", "due, group, nil, nil,"), // a replaced job keeps its old place
    ("push_any.lua", "if was_stored then", "if false then"),        // does not know its own jobs
    ("push_any.lua", "and string.sub(old, 2) == string.sub(debounced(record, old), 2) then", "then"), // knows others' for its own
    (
        "push_any.lua",
        "string.sub(old, 2) == string.sub(debounced(record, old), 2)",
        "string.sub(old, 2) == string.sub(record, 2)",
    ), // a debounce does not know its own job
    ("push_any.lua", "local is_kept = ARGV[6 * n + 3] ~= '' and is_recent(id)", "local is_kept = false"), // no id stays taken
    ("push_any.lua", "(not is_kept or waits(id))", "true"), // replaces a job in hand whose id is taken
    ("push_any.lua", "elseif is_kept and is_again and not may_replace then", "elseif false then"), // a lost push is a duplicate of itself
    ("push_any.lua", "not came_back[id] and waits(id) and olds[n]", "waits(id) and olds[n]"), // the debounce never ends
    ("push_any.lua", "due = math.min(due, latest[n] or due)", ""),                            // the debounce never runs
    ("push_any.lua", "local before = last[id] and records[last[id]] or", "local before ="), // not the moment that the same batch has set
    ("push_any.lua", "if not old and not last[id] then added", "if not last[id] then added"), // a replaced job counts twice
    ("push_any.lua", "many + added > ARGV[3] + 0", "many + added >= ARGV[3] + 0"), // the last place cannot be had
    ("push_any.lua", "if not skip[n] and ARGV[6 * n + 3] ~= ''", "if ARGV[6 * n + 3] ~= ''"), // a push that is kept takes the id longer
    ("lib/recent.lua", "or 0) > now", "or 0) > 0"), // an id is never free again
    ("lib/recent.lua", "'LIMIT', 0, 10)", "'LIMIT', 0, 1)"), // past entries stay
    ("lib/debounce.lua", "old_mode == 0 and old_latest or now + latest", "now + latest"), // each push sets the moment anew
    ("lib/history.lua", "return past.attempts +", "return 1 + past.attempts +"), // a job whose moment has passed never waited
    ("lib/history.lua", "past.attempts + past.timeouts +", "past.attempts +"), // nor did one whose lease has ended behind another job
    ("push_once.lua", "call('ZADD', receipts, int(now), receipt)", ""),        // arrives twice
    ("push_once.lua", "if call('ZSCORE', receipts, receipt) then", "if false then"), // the same
    ("push_once.lua", "due_at(ARGV[n + 3], (n - 2) / 9)", "due_at(ARGV[n + 3])"), // a call loses its order
    ("push_once.lua", "is_there and (old_due or", "is_there and (true or"),    // replaces a job in hand
    (
        "push_once.lua",
        "if record == '' or replaces or not is_there and not is_kept then",
        "if record == '' or replaces or not is_there then",
    ), // forgets that the id is taken
    ("push_once.lua", "if unique ~= '' then take_id(id, unique + 0) end", ""),
    ("push_once.lua", "if replaces and not old_due then call('ZREM', buried, id) end", ""), // in two states
    (
        "push_once.lua",
        "if old_due and unplace(id, old_due, where, where == grouped and call('HGET', jobs, id)) then",
        "if false then",
    ), // the same
    ("push_once.lua", "first_due > 0 and first_due or math.max(due, now)", "math.max(due, now)"), // forgets since when it waits
    ("push_once.lua", "    record = with_history(record)\n", ""), // no reserve asks for the past
    ("push_once.lua", "call('HDEL', history, id)", ""),           // the new job has the past of the old one
    ("push_once.lua", "if reclaim() then return { 'AGAIN' } end", ""), // a lease that is over is in the way
];

/// The tests that are named find them.
pub const BY_OTHERS: &[(Mutant, &str)] = &[
    (("push.lua", "wake(soonest)", ""), "wakes::"),
    (("push.lua", "redis.pcall('ZADD', waiting, 'NX'", "call('ZADD', waiting, 'NX'"), "oom::a_push_tells"),
    (("push_any.lua", "wake(soonest)", ""), "wakes::"),
    (("push.lua", "call('ZCARD', waiting)", ""), "wrongtype::every_operation_on"),
    (("lib/check_schema.lua", "call('ZCARD', waiting)", ""), "wrongtype::every_operation_on"),
    (("push_any.lua", "end_leases(over, proofs)", ""), "duplicates::a_push_that_replaces"),
    (("push_any.lua", "or came_back[id]", ""), "repeats::"), // puts off a released job
    (("push.lua", "call('ZADD', waiting, unpack(places))", "redis.pcall('ZADD', waiting, unpack(places))"), "denied::"),
    (("push_any.lua", "call('ZADD', waiting, 'XX', '0', '')", ""), "oom::"),
    (
        (
            "push.lua",
            "string.sub(call('HGET', jobs, id), 2) == string.sub(record, 2)",
            "call('HGET', jobs, id) == record",
        ),
        "duplicates::a_push_knows",
    ),
    (("push.lua", "soonest <= now + 6000000 and", "soonest <= now and"), "waiting::"),
    (
        ("push.lua", "elseif mode ~= 'keep' and", "elseif mode == 'fail_again' and"),
        "duplicates::a_batch_that_is_repeated_adds",
    ),
    (
        ("push_any.lua", "was_stored, stored[id] = true,", "was_stored, stored[id] = false,"),
        "duplicates::a_batch_that_is_repeated_adds",
    ),
    (("push_once.lua", "call('ZADD', waiting, 'XX', '0', '')", ""), "oom::a_push_is_refused"),
    (("push_once.lua", "wake(soonest)", ""), "wakes::"),
    (("push_once.lua", "call('ZCARD', receipts)", ""), "wrongtype::"),
    (
        ("push_any.lua", "if not skip[n] then renewed[#renewed + 1] = id end", ""),
        "repeats::a_repeated_replacement_of_a_job",
    ),
    (("lib/debounce.lua", "string.byte(record, at) <= 1", "true"), "debounce::a_mode_that"),
    (("lib/debounce.lua", "string.byte(record, at - 1) == 9 and", ""), "debounce::a_moment_that_cannot"),
    (("lib/debounce.lua", "old_mode == 0 and", "old_mode and"), "debounce::a_moment_that_cannot"),
    (
        ("lib/history.lua", "string.byte(record) or 0) then return false", "string.byte(record)) then return false"),
        "debounce::a_moment_that_cannot",
    ),
    (("push.lua", "redis.pcall('HSET', KEYS[4]", "redis.call('HSET', KEYS[4]"), "wrongtype::"),
    (("push_any.lua", "deadline + 0 <= now and try('HGET', leases, id)", "false"), "duplicates::a_push_that_replaces"),
    (("push_any.lua", "call('HINCRBY', meta, 'timed_out', #over)", ""), "duplicates::a_push_that_replaces"),
];
