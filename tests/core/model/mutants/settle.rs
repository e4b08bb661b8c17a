//! Mistakes in settling jobs: ends of leases, records and pasts.

use super::Mutant;

/// The walk finds them.
pub const BY_THE_WALK: &[Mutant] = &[
    ("lib/acknowledge.lua", "if held[n] ~= lease then", "if not held[n] then"), // stale tokens pass
    ("lib/acknowledge.lua", "ran[run] = (ran[run] or 0) + 1", "ran[run] = 1"),
    ("lib/acknowledge.lua", "string.sub(runs, 2 * n - 1, 2 * n)", "string.sub(runs, 1, 2)"), // all as long as the first one
    ("lib/acknowledge.lua", "lost = n .. ' ' .. lost", ""),
    ("lib/ends.lua", "if aged[1] then call('HDEL', history, unpack(aged)) end", ""), // history leaks into the next job of that id
    ("lib/ends.lua", "call('HDEL', jobs, unpack(ids))", ""),
    ("lib/ends.lua", "call('ZREM', reserved, unpack(ids))", ""),
    ("lib/ends.lua", "call('HDEL', leases, unpack(ids))", ""),
    ("lib/ends.lua", "or 'h'", "or '-'"), // the history of a job that nobody held stays
    (
        "release.lua",
        "past.attempts, past.releases = past.attempts + 1, past.releases + 1",
        "past.releases = past.releases + 1",
    ),
    ("release.lua", "call('HSET', jobs, id, past and with_history(record) or record)", ""), // the new priority is forgotten at the next lease's end
    ("release.lua", "ARGV[2] == '' and read_lease(lease) or", "ARGV[2] == '' and now or"),  // not its old place
    ("release.lua", "call('HGET', leases, id) == lease", "call('HGET', leases, id)"),       // stale tokens pass
    ("release.lua", "if ids[1] and end_leases(ids, held) then", "if false then"),
    ("fail.lua", "past.attempts, past.error = past.attempts + 1, ARGV[5]", "past.error = ARGV[5]"),
    ("fail.lua", "past.attempts >= max_attempts", "past.attempts > max_attempts"),
    ("fail.lua", "call('HGET', leases, id) == ARGV[3]", "call('HGET', leases, id)"),
    ("fail.lua", "place_back(id, record, priority, due)", "place_back(id, record, DEFAULT_PRIORITY, due)"),
    ("fail.lua", "= end_leases({ id }, { ARGV[3] })", "= false"),
    ("fail.lua", "call('HINCRBY', meta, 'failed' .. ARGV[6], 1)", ""),
    ("fail.lua", "read_history(id, old_due)", "read_history(id, now)"), // it waits anew
    ("release.lua", "read_history(id, (read_lease(lease)))", "read_history(id, now)"),
    ("bury.lua", "read_history(id, old_due)", "read_history(id, now)"),
    ("bury.lua", "past.attempts = past.attempts + 1", ""),
    ("bury.lua", "call('HGET', leases, id) == ARGV[3]", "call('HGET', leases, id)"),
    ("bury.lua", "= end_leases({ id }, { ARGV[3] })", "= false"),
    ("lib/bury.lua", "past.buries + 1", "past.buries"),
    ("lib/bury.lua", "call('ZADD', buried, int(now), id)", ""),
    ("touch.lua", "deadline = now + ARGV[n + 2] * 1000", "deadline = now"),
    ("touch.lua", "if ARGV[2] == '1' then", "if false then"), // a heartbeat shortens a lease
    ("touch.lua", "call('HGET', leases, id) == ARGV[n + 1]", "call('HGET', leases, id)"),
    ("lib/history.lua", "if unasked or options(record) and", "if unasked and"), // no reserve asks for the history
    ("lib/history.lua", "counts .. past.error", "counts"),
    ("lib/record.lua", "string.sub(record, 1, 17) ..", "string.sub(record, 1, 16) .."), /* an option too short */
    ("lib/options.lua", "max_attempts, priority\nend", "10, priority\nend"),
    ("lib/take_back.lua", "(counts and 1 or 0)", "0"), // poison is never spent
    ("lib/take_back.lua", "(counts and 1 or 0)", "1"), // a crash costs those an attempt that waited behind its job
    ("lib/take_back.lua", "counts and ttr_ms and", "ttr_ms and"), // they count as runs
    ("lib/take_back.lua", "past.attempts >= max_attempts", "false"), // poison is never buried
    ("lib/take_back.lua", "place_back(id, record, priority, due)", "place_back(id, record, priority, now)"), // not its old place
    ("lib/take_back.lua", "= end_leases(ended, ended_leases)", "= false"),
    ("lib/take_back.lua", "return #ended == 100, is_let_in", "return false, is_let_in"),
    ("lib/take_back.lua", "(timed_out[run] or 0) + 1", "1"),
    ("lib/take_back.lua", "bucket_of(ttr_ms * 1000)", "bucket_of(ttr_ms)"),
    ("lib/take_back.lua", "read_history(id, due)", "read_history(id, now)"),
    ("lib/count_runs.lua", "outcome .. runs,", "outcome .. '00',"), // not how long it ran
    ("lib/count_runs.lua", "outcome .. runs,", "'acked' .. runs,"), // a failed run counts as done
    ("ack.lua", "call('HINCRBY', meta, 'given_up', #ids)", ""),     // as if it had never been pushed
    ("lib/acknowledge.lua", "table.remove(ids, n)", ""),            // jobs that are not ours end
    ("lib/done.lua", "if aged then call('HDEL', history, unpack(aged)) end", ""), // history leaks into the next job of that id
    ("lib/done.lua", "call('ZREM', reserved, unpack(ids))", ""),
    ("lib/done.lua", "call('HDEL', leases, unpack(ids))", ""),
    ("lib/done.lua", "call('HDEL', jobs, unpack(ids))", ""),
    ("release.lua", "(ARGV[4] == '1' or ARGV[6] ~= '' or has_moments) and read_history", "read_history"), // an attempt leaves a trace that does not count
    ("release.lua", "or has_moments) and", ") and"), // a release that does not count puts the moments off
    ("release.lua", "record = started(record)", ""), // a job that was started expires
    ("release.lua", "ARGV[4] ~= '' and priority", "priority"), // one that nobody started counts as started
    ("release.lua", "if ARGV[4] == '1' then past", "if true then past"), // attempts count that the caller does not count
    ("release.lua", "(ARGV[4] == '1' or ARGV[6] ~= '' or", "(ARGV[4] == '1' or"), // forgets the error of such an attempt
    ("release.lua", "if ids[1] and ARGV[7] ~= '' then call('HINCRBY', meta, ARGV[7], #ids) end", ""),
    (
        "release.lua",
        "call('HINCRBY', meta, ARGV[7], #ids)",
        "call('HINCRBY', meta, 'released' .. ARGV[7]:sub(-2), #ids)",
    ),
    ("bury.lua", "call('HINCRBY', meta, ARGV[6], 1)", ""),
    ("bury.lua", "call('HINCRBY', meta, ARGV[6], 1)", "call('HINCRBY', meta, 'buried' .. ARGV[6]:sub(-2), 1)"),
    ("fail.lua", "is_spent = is_too_late(record, past, due)", ""),
    ("fail.lua", "if is_spent and reason == '' then reason = TOO_LATE end", ""),
    ("release.lua", "is_late = is_too_late(record, past, due)", ""),
];

/// The tests that are named find them.
pub const BY_OTHERS: &[(Mutant, &str)] = &[
    (("release.lua", "wake(soonest)", ""), "wakes::"),
    (("fail.lua", "wake(due)", ""), "wakes::"),
    (("touch.lua", "wake(soonest)", ""), "wakes::"),
    (("lib/done.lua", "call('HDEL', jobs, unpack(ids))", "redis.pcall('HDEL', jobs, unpack(ids))"), "denied::"),
    (("lib/record.lua", "if kind < 97 or kind > 122 then", "if false then"), "traits::a_job_with"),
    (("lib/options.lua", "math.max(ttr_ms, SHORTEST_TTR_MS)", "ttr_ms"), "foreign::a_job_without"),
    (("lib/take_back.lua", "only_looks and not may_write()", "false"), "looking::"),
    (("lib/forget_calls.lua", "if is_held then break end", ""), "bounds::cancelling"),
    (("release.lua", "if ARGV[6] ~= '' then past.error = ARGV[6] end", ""), "lifecycle::a_release_leaves"),
    (("lib/take_back.lua", "return workers .. ', ' .. worker", "return workers"), "lifecycle::a_job_that_outlives"),
    (("lib/take_back.lua", "if #workers > 400 or ", "if "), "lifecycle::a_job_that_outlives"),
    (("release.lua", "past.error ~= '' and past.error or TOO_LATE", "TOO_LATE"), "moments::a_release"),
    (("release.lua", "set_aside = set_aside .. ' ' .. (n - 6) / 2", ""), "moments::a_release"),
];
