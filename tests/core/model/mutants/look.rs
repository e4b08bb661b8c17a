//! Mistakes in looking, and in snapshots of the counters.

use super::Mutant;

/// The walk finds them.
pub const BY_THE_WALK: &[Mutant] = &[
    ("list.lua", "add_prioritized(offset, math.min(last, urgent - 1))", ""),
    ("list.lua", "or ARGV[2] == 'ready' and promote(true)", ""),
    ("list.lua", "math.max(offset - due_now, urgent)", "urgent"),
    (
        "lib/merge.lua",
        "if mine and other and is_before(mine, other) then low = mid + 1 else high = mid end",
        "high = mid",
    ),
    ("lib/merge.lua", "if mine[i] and (not others[j] or is_before(mine[i], others[j])) then", "if mine[i] then"),
    ("list.lua", "offset = offset + count_up_to(", "offset = count_up_to("),
    ("lib/after.lua", "call('ZRANK', key, member) + 1, true", "call('ZRANK', key, member), true"), // shows the job itself again
    ("lib/after.lua", "if score and int(score) == at then", "if score then"), // goes by where the job is now
    ("lib/after.lua", "math.max(0, first - due_waiting)", "first - due_waiting"),
    ("lib/after.lua", "math.max(0, up_to(prioritized, at, id) - call('ZCOUNT', prioritized, '-inf', int(now)))", "0"),
    ("lib/after.lua", "call('ZCOUNT', prioritized_ready, '-inf', '(1024') + math.min", "math.min"),
    ("lib/after.lua", "(priority + 0 < 1024 and 0 or due_now)", "0"),
    ("lib/after.lua", "(priority + 0 < 1024 and 0 or due_now)", "due_now"),
    ("peek.lua", "due <= now and 'ready' or 'delayed'", "'ready'"),
    ("stats.lua", "key ~= grouped and (not oldest or due < oldest)", "key ~= grouped and (not oldest or due > oldest)"),
    ("stats.lua", "local is_paused = pause_end() and 1 or 0", "local is_paused = 0"),
];

/// The tests that are named find them.
pub const BY_OTHERS: &[(Mutant, &str)] = &[
    (("lib/snapshot.lua", "and age < SNAPSHOT_EVERY_US", "and false"), "stats::"),
    (("lib/snapshot.lua", "if at > now or", "if"), "stats::"), // the future stays
    (("lib/snapshot.lua", "<= now - HOUR_US", "<= 0"), "stats::"), // grows for ever
    (("lib/snapshot.lua", "<= now - HOUR_US", "<= now"), "stats::"), // the one of an hour ago goes
    (("lib/snapshot.lua", "type(try('HSET',", "type(call('HSET',"), "stats::"),
    (("lib/snapshot.lua", "counters[#counters + 1] = 'jobs ' .. many", ""), "stats::"),
    (("lib/after.lua", "'(' .. at)", "at)"), "pages::"), // jobs of the same moment are passed over
    (("lib/after.lua", "'(' .. at), call('ZCOUNT', key, '-inf', at)", "'(' .. at), 0"), "pages::"), // or shown twice
    (("lib/after.lua", "then high = mid else low = mid + 1 end", "then low = mid + 1 else high = mid end"), "pages::"),
    (("lib/after.lua", "if score and int(score) == at then", "if false then"), "pages::"), // no whole microseconds
    (("lib/after.lua", "if due and int(due) == at and", "if false and"), "pages::where_redis"),
    (("lib/after.lua", "math.min(first, due_waiting)", "first"), "pages::the_place"), // the clock was set back
    (("lib/after.lua", "and at + 0 <= now and not promoted", "and not promoted"), "pages::the_place"), // the same
    (("lib/after.lua", "promoted and int(promoted) or priority", "priority"), "pages::"), // of a damaged record
    (("lib/less.lua", "if mine ~= other then return mine < other end", ""), "pages::"),
    (("lib/less.lua", "return #a < #b", "return #a > #b"), "pages::"),
];
