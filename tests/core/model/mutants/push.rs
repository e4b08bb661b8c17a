//! Mistakes in pushing jobs.

use super::Mutant;

/// The walk finds them.
pub const BY_THE_WALK: &[Mutant] = &[
    ("push.lua", "return now + n + due", "return now + due"), // a batch loses its order
    ("push.lua", "return string.sub(due, 2) + 0", "return now"), // moments are forgotten
    ("push.lua", "string.sub(call('HGET', jobs, id), 2) == string.sub(record, 2) then", "false then"), // does not know its own job
    ("push.lua", "and string.sub(call('HGET', jobs, id), 2) == string.sub(record, 2) then", "then"), // takes another's job for its own
    ("push.lua", "if duplicate then return { 'DUPLICATE', duplicate } end", ""), // adds the rest of a refused push
    ("push.lua", "if call('HEXISTS', jobs, id) == 0 then", "if call('HEXISTS', jobs, id) == 0 or mode == 'keep' then"), // overwrites a job that it should keep
    ("push.lua", "and call('HEXISTS', jobs, ARGV[1]) == 0 then", "then"), // overwrites a job
    ("push.lua", "soonest = due_of(ARGV[3], 0)", "soonest = now"),        // forgets the delay
    ("push_any.lua", "if mode == 'fail' then return { 'DUPLICATE', id } end", ""),
    ("push_any.lua", "if mode == 'keep' then skip[n] = true end", ""),
    ("push_any.lua", "if type(lease) ~= 'string' then return { 'RESERVED', id } end", ""),
    ("push_any.lua", "deadline + 0 <= now and try('HGET', leases, id)", "false"), // a lease that is over is in the way
    ("push_any.lua", "call('HINCRBY', meta, 'timed_out', #over)", ""),
    ("push_any.lua", "if old then renewed[#renewed + 1] = id end", ""),
    ("push_any.lua", "replaced = replaced + 1", ""),
    ("push_any.lua", "call('HDEL', history, unpack(renewed))", ""), // replacing keeps attempts
    ("push_any.lua", "call('ZREM', buried, unpack(renewed))", ""),  // a replaced buried job is in two states
    ("push_any.lua", "then due = due + n - 1 end", "then end"),     // a batch loses its order
    ("push_any.lua", "due, old_due, was_prioritized)", "due)"),     // a replaced job keeps its old place
    ("push_any.lua", "if was_stored then", "if false then"),        // does not know its own jobs
    ("push_any.lua", "if old and string.sub(old, 2) == string.sub(ARGV[5 * n - 1], 2) then", "if old then"), // knows others' for its own
];

/// The tests that are named find them.
pub const BY_OTHERS: &[(Mutant, &str)] = &[
    (("push.lua", "wake(soonest)", ""), "wakes::"),
    (("push_any.lua", "wake(soonest)", ""), "wakes::"),
    (("push_any.lua", "end_leases(over)", ""), "duplicates::a_push_that_replaces"),
    (("push_any.lua", "or is_aged[id]", ""), "repeats::"), // puts off a released job
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
        ("push_any.lua", "was_stored, stored[id], is_aged[id] = true,", "was_stored, stored[id], is_aged[id] = false,"),
        "duplicates::a_batch_that_is_repeated_adds",
    ),
];
