//! Mistakes in operations on jobs that nobody holds, on the queue as a whole, and in what all scripts share.

use super::Mutant;

/// The walk finds them.
pub const BY_THE_WALK: &[Mutant] = &[
    ("update.lua", "flags - flags % 2 +", ""), // forgets that there is a history
    ("update.lua", "string.sub(record, 8, last)", "''"),
    ("update.lua", "if lease == '' and reclaim() then return { 'AGAIN' } end", ""),
    ("update.lua", "call('HGET', leases, id) ~= lease or", ""),
    ("cancel.lua", "remove(ids)", ""),
    ("cancel.lua", "call('HINCRBY', meta, 'cancelled', #ids)", ""),
    ("lib/remove.lua", "call('ZREM', prioritized_ready, ready_member(dues[n] + 0, id))", ""),
    ("lib/remove.lua", "{ waiting, prioritized, grouped, buried }", "{ waiting, prioritized, grouped }"),
    ("reschedule.lua", "past.first_due = math.max(due, now)", "past.first_due = now"),
    ("reschedule.lua", "if not old_due then call('ZREM', buried, id) end", ""),
    ("reschedule.lua", "group_of(record), old_due, where, record)", "group_of(record))"),
    ("reschedule.lua", "or not old_due and not call('ZSCORE', buried, id) then", "then"), // a held job waits as well
    ("lib/kick.lua", "past.kicks + 1, now", "past.kicks, now"),
    (
        "lib/kick.lua",
        "past.kicks, past.first_due = past.kicks + 1, now",
        "past.kicks, past.first_due = past.kicks + 1, past.first_due or now",
    ),
    ("lib/kick.lua", "past.attempts, past.timeouts = 0, 0", "past.attempts = 0"),
    ("lib/kick.lua", "(old_due and old_due > now)", "old_due"), // ready jobs can be kicked
    ("lib/kick.lua", "if is_buried then call('ZREM', buried, id) end", ""),
    ("kick.lua", "ARGV[4] + ARGV[2] - 1", "ARGV[4] + ARGV[2]"),
    ("kick.lua", "if reclaim() then return { 'AGAIN' } end", ""),
    ("kick_job.lua", "if reclaim() then return { 'AGAIN' } end", ""),
    ("take.lua", "return a[2] < b[2] or", "return a[2] > b[2] or"),
    ("take.lua", "if pause_end() then return { 'OK', 0 } end", ""),
    ("take.lua", "ipairs({ waiting, prioritized, grouped })", "ipairs({ waiting, grouped })"),
    ("take.lua", "if #reply > 2 then call('HINCRBY', meta, 'acked', #reply - 2) end", ""),
    ("purge.lua", "if state == 'ready' then high = int(now) end", ""),
    ("purge.lua", "low = '(' .. int(now)", ""),
    ("purge.lua", "state == 'buried' and { buried } or", ""),
    ("forget.lua", "pause_end() or", ""),
    ("forget.lua", "call('UNLINK', unpack(KEYS))", ""),
    ("pause.lua", "and now + ARGV[2]", "and now + ARGV[2] / 2"),
    ("resume.lua", "call('HDEL', limits, '\\n\\n') == 1", "call('HEXISTS', limits, '\\n\\n') == 1"),
    ("lib/pause_end.lua", "try('HDEL', limits, '\\n\\n')", ""),
    ("lib/clock.lua", "+ time[2] + ARGV[1]", "+ time[2]"), // no test travels in time
    ("forget.lua", "recent, '(' .. int(now)", "recent, '-inf'"), // an id whose time is over keeps the queue
];

/// The tests that are named find them.
pub const BY_OTHERS: &[(Mutant, &str)] = &[
    (("reschedule.lua", "wake(is_opened and math.min(due, now) or due)", ""), "wakes::"),
    (("kick.lua", "wake(now)", ""), "wakes::"),
    (("kick_job.lua", "wake(now)", ""), "wakes::"),
    (("resume.lua", "wake(now)", ""), "wakes::"),
    (("repair.lua", "wake(now)", ""), "wakes::"),
    (
        ("lib/kick.lua", "group_of(record), old_due, where, record)", "group_of(record))"),
        "model::walk::regressions::a_job_of_another",
    ),
    (("update.lua", "if ARGV[6] and kept ~= ARGV[6] then", "if false then"), "repeats::"),
    (("lib/allow_when_full.lua", "call('ZREM', reserved, '')", ""), "oom::"),
    (("lib/check_types.lua", "call('ZCARD', key)", ""), "wrongtype::"),
    (("lib/check_types.lua", "call('HLEN', key)", ""), "wrongtype::"),
    (("update.lua", ".. kept .. traits ..", ".. kept .."), "traits::every_operation"),
    (("forget.lua", "or call('HLEN', jobs) > 0", ""), "forget::jobs_that"),
    (("forget.lua", "if is_covered(math.huge, 0) then return 'USED' end", ""), "forget::a_paused"),
    (("kick.lua", "call('ZREM', buried, id)", ""), "foreign::"),
    (("repair.lua", "place_back(id, record, priority, now)", ""), "deleted_keys::leases_that_nobody"),
    (("repair.lua", "and not (is_held and", "and not (false and"), "deleted_keys::a_repair"),
    (("repair.lua", "end_leases({ id }, { false })", ""), "deleted_keys::leases_that_nobody"),
    (("repair.lua", "give_back(id, lease)", ""), "deleted_keys::jobs_whose_place"),
    (("repair.lua", "      bury(id,", "      place(id, 1024, now) -- bury(id,"), "deleted_keys::jobs_whose_place"),
    (("lib/remove.lua", "if consumer and not told[consumer] then", "if false then"), "keeping::a_keeper_hears"),
    (("forget.lua", "call('ZCARD', receipts) > 0 or", ""), "receipts::a_job_arrives_once"), // receipts are forgotten
];
