//! Mistakes in operations on jobs that nobody holds, on the queue as a whole, and in what all scripts share.

use super::Mutant;

/// The walk finds them.
pub const BY_THE_WALK: &[Mutant] = &[
    ("update.lua", "flags - flags % 2 +", ""), // forgets that there is a history
    ("update.lua", "+ (ARGV[7] ~= '' and HAS_OPTIONS or 0)", ""),
    ("update.lua", "(old_due or since + 0) ~= ARGV[5] + 0", "false"),
    ("update.lua", "(ARGV[8] or string.sub(record, payload))", "(ARGV[8] or '')"),
    ("update.lua", "if is_moved then move(id, new, due_at(ARGV[6]), old_due, where) end", ""),
    ("update.lua", "if lease == '' and reclaim() then return { 'AGAIN' } end", ""),
    ("update.lua", "call('HGET', leases, id) ~= lease or", ""),
    ("cancel.lua", "remove(ids)", ""),
    ("cancel.lua", "call('HINCRBY', meta, 'cancelled', #ids)", ""),
    ("lib/remove.lua", "call('ZREM', prioritized_ready, ready_member(dues[n] + 0, id))", ""),
    ("lib/remove.lua", "{ waiting, prioritized, grouped, buried }", "{ waiting, prioritized, grouped }"),
    ("lib/move.lua", "past.first_due = math.max(due, now)", "past.first_due = now"),
    ("lib/move.lua", "if not old_due then call('ZREM', buried, id) end", ""),
    ("lib/move.lua", "group_of(record), old_due, where, record)", "group_of(record))"),
    ("reschedule.lua", "or not is_held and not old_due and not call('ZSCORE', buried, id) then", "then"), // a held job waits as well
    ("reschedule.lua", "ARGV[4] == '1' and call('ZSCORE', reserved, id)", "call('ZSCORE', reserved, id)"), // also unasked
    (
        "lib/asked.lua",
        "return struct.unpack('>I8', record, at), without_trait(record, at)",
        "return struct.unpack('>I8', record, at), record",
    ),
    ("release.lua", "if asked then due = math.min(due, asked) end", ""),
    ("release.lua", "if asked then due = math.min(due, asked) end", "if asked then due = asked end"),
    ("release.lua", "if string.sub(ARGV[7], 1, 6) == 'failed' then asked = nil end", ""),
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
    (("lib/move.lua", "wake(is_opened and math.min(due, now) or due)", ""), "wakes::"),
    (("kick.lua", "wake(now)", ""), "wakes::"),
    (("kick_job.lua", "wake(now)", ""), "wakes::"),
    (("resume.lua", "wake(now)", ""), "wakes::"),
    (("repair.lua", "wake(now)", ""), "wakes::"),
    (
        ("lib/kick.lua", "group_of(record), old_due, where, record)", "group_of(record))"),
        "model::walk::regressions::a_job_of_another",
    ),
    (("update.lua", "and digest(record) ~= ARGV[4]", "and false"), "asked::an_update"),
    (("reschedule.lua", "with_trait(unasked or record,", "with_trait(record,"), "asked::"),
    (("lib/back.lua", "if unasked then call('HSET', jobs, id, unasked) end", ""), "repeats::"),
    (("lib/waits_for.lua", "if due > now then return 'delay', int(due), '', '' end", ""), "waits_for::"),
    (
        ("lib/waits_for.lua", "if paused then return 'queue_paused'", "if false then return 'queue_paused'"),
        "waits_for::",
    ),
    (("lib/waits_for.lua", "closed < math.huge and 'group_closed' or 'group_paused'", "'group_closed'"), "waits_for::"),
    (("lib/waits_for.lua", "if string.sub(first, at) ~= id then", "if false then"), "waits_for::"),
    (("lib/waits_for.lua", ">= own.concurrency then", "> own.concurrency then"), "waits_for::"),
    (("lib/waits_for.lua", "if opens_at > now then", "if false then"), "waits_for::"),
    (("lib/waits_for.lua", "call('ZCARD', reserved) >= whole.concurrency", "false"), "waits_for::"),
    (("lib/waits_for.lua", "ahead > 0 and 'line' or 'nothing'", "'nothing'"), "waits_for::"),
    (("peek.lua", "pcall(waits_for, id, due, where, record)", "true, waits_for(id, due, where, record)"), "acl::"),
    (("lib/allow_when_full.lua", "call('ZREM', reserved, '')", ""), "oom::"),
    (("lib/check_types.lua", "call('ZCARD', key)", ""), "wrongtype::"),
    (("lib/check_types.lua", "call('HLEN', key)", ""), "wrongtype::"),
    (("update.lua", ".. ARGV[7] .. traits ..", ".. ARGV[7] .."), "traits::every_operation"),
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
