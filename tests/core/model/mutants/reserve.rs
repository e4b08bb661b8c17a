//! Mistakes in choosing and leasing jobs, and in where they wait.

use super::Mutant;

/// The walk finds them.
pub const BY_THE_WALK: &[Mutant] = &[
    ("reserve.lua", "call('ZREM', waiting, unpack(ids))", ""), // reserved twice
    ("reserve.lua", "(count == 1 or bucket_of(now - dues[count]) == oldest)", "true"), // all as late as the first
    ("lib/take_rarely.lua", "call('ZREM', waiting, unpack(ids))", ""), // reserved twice
    ("lib/take_rarely.lua", "rare.unplace(id, dues[n] + 0, prioritized)", ""), // the same
    ("lib/pick_rarely.lua", "is_prioritized = call('EXISTS', prioritized) == 1 -- jobs", "--"),
    ("reserve.lua", "line, limits)", "line)"), // pause ignored
    ("reserve.lua", "or call('ZCOUNT', reserved, '-inf', now_text) > 0 then", "then"), // leases never end
    ("lib/pick_rarely.lua", "if is_prioritized then is_more = rare.promote() or is_more end", ""),
    ("lib/pick_rarely.lua", "if closed_until then\n    picked = {}\n  elseif look", "if look"), // pause ignored
    ("lib/pick_rarely.lua", "if is_repeat then is_let_in = rare.undo_call(consumer, ARGV[3]) or is_let_in end", ""), // jobs that no handler saw
    ("reserve.lua", "call_of(ARGV[3], ids)", "''"), // the same
    ("lib/look_closer.lua", "past = flags % 4 >= 2 and call", "past = false and call"),
    ("lib/look_closer.lua", "is_alone = timeouts > 0 or", "is_alone ="), // a poisoned job takes others along
    ("lib/look_closer.lua", "attempts + 1 >= max_attempts", "attempts >= max_attempts"), // so does the last attempt
    ("reserve.lua", "(is_alone or", "("),
    ("reserve.lua", "bytes + #record, is_alone or", "bytes + #record,"),
    ("reserve.lua", "count == 1 and '1' or int(count)) - count", "'1') - 1"), // tokens repeat
    ("reserve.lua", "ttr_ms == DEFAULT_TTR_MS and deadline or int(now + ttr_ms * 1000)", "deadline"), // a TTR of its own is forgotten
    ("reserve.lua", "(lateness[bucket] or 0) + 1", "1"),
    ("lib/bucket.lua", "(mantissa < 0.70710678118654752 and 2 or 1)", "1"),
    ("reserve.lua", "waited[bucket] = (waited[bucket] or 0) - 1", ""), // counts both as late and as waiting
    ("reserve.lua", "waited[wait] = (waited[wait] or 0) + 1", ""),
    ("reserve.lua", "struct.unpack('>I8', past, 21)", "due"), // no job waits longer than it is late
    ("lib/pick_rarely.lua", "if not is_more then", "if true then"),
    ("reserve.lua", "n == 1 and '- ' or 'a '", "'- '"), // nobody knows who waited behind another one
    ("reserve.lua", "or n == 1 and 'h ' or 'ha '", "or n == 1 and '- ' or 'a '"), // history leaks into the next job of that id
    ("reserve.lua", "math.min(first + 14, #picked - 1)", "math.min(first + 12, #picked - 1)"),
    ("reserve.lua", "if count > 0 and most ~= '0' then", "if count > 0 then"), // a wait leases
    ("reserve_job.lua", "else call('ZREM', buried, id) end", "end"),
    ("reserve_job.lua", "int(due or since)", "int(due or now)"),
    ("reserve_job.lua", "int(due or since)", "int(due and now or since)"),
    ("reserve_job.lua", "undo_call(ARGV[2], ARGV[3])", "false"),
    ("reserve_job.lua", "(past and 'h' or '')", "''"), // history leaks into the next job of that id
    ("reserve_job.lua", "if not due and not since then return { 'MISSING' } end", ""), // reserved twice
    ("reserve_job.lua", "if reclaim() then return { 'AGAIN' } end", ""),
    ("lib/undo_call.lua", "if lines() ~= number then return false end", "lines()"), // gives back jobs that were seen
    ("lib/give_back.lua", "record, priority, due)", "record, priority, now)"),
    ("lib/pick.lua", "add_prioritized('-inf', '(1024')", ""),
    ("lib/pick.lua", "add_prioritized('1024', '+inf')", ""),
    ("lib/pick.lua", "'WITHSCORES', 'LIMIT', 0, most - #picked / 2)", "'WITHSCORES', 'LIMIT', 0, most)"), // more than were wanted
    (
        "lib/place.lua",
        "if where == prioritized then call('ZREM', prioritized_ready, ready_member(old_due, id)) end",
        "",
    ),
    ("lib/place.lua", "call('ZRANK', prioritized, id) < ready", "false"), // served too late
    ("lib/place.lua", "if where and where ~= key then call('ZREM', where, id) end", ""),
    ("lib/promote.lua", "if ready > due_now then", "if false then"), // not when the clock is set back
    ("lib/promote.lua", "int(priority or 0), ready_member", "0, ready_member"),
    ("lib/moments.lua", "mode == 1 and first_due + value or value", "value"), // every moment is one on the clock
    ("lib/moments.lua", "past.kicks == 0 and moment", "moment"),              // a kick lifts nothing
    ("lib/moments.lua", "< math.max(next_due, now)", "< now"),
    ("lib/moments.lua", "< math.max(next_due, now)", "< next_due"),
    ("lib/expire.lua", "if past.kicks == 0 and past.attempts", "if past.attempts"),
    ("lib/expire.lua", "and past.attempts + past.timeouts == 0 and", "and"), // later attempts expire
    ("lib/expire.lua", "past.attempts + past.timeouts == 0", "past.attempts == 0"), // so does one that may have been started
    ("lib/expire.lua", "string.byte(record, at + 9) == 1 and 'dropped' or 'expired'", "'expired'"),
    ("lib/moments.lua", "moment(record, 'U', past.first_due)", "moment(record, 'U', now)"),
    ("lib/expire.lua", "past.error ~= '' and past.error or TOO_LATE", "TOO_LATE"),
    ("lib/expire.lua", "where and { where } or { waiting, prioritized }", "{ waiting }"),
    ("lib/look_behind.lua", "first = true, 2 * count + 1", "first = true, 1"), // leases a job twice
    ("reserve.lua", "is_alone or has_looked_behind and count + 1 == wanted + 0", "is_alone"), // more than were wanted
    ("reserve.lua", "if late > 0 and not (is_full", "if false and not (is_full"), // fewer than there are
    ("reserve_job.lua", "and expire(id, record, due, where) then", "and false then"),
    ("take.lua", "elseif record and is_ended(id, record, due, where) then", "elseif false then"),
    ("lib/take_back.lua", "is_spent = is_too_late(record, past, due)", ""),
];

/// The tests that are named find them.
pub const BY_OTHERS: &[(Mutant, &str)] = &[
    (("reserve.lua", "snapshot() -- before", "-- before"), "stats::"),
    (("reserve.lua", "if long then call('ZADD', reserved, 'inf', long) end", ""), "bounds::leases_of"),
    (("reserve.lua", "if long then call('ZREM', reserved, long) end", ""), "bounds::leases_of"),
    (("reserve_job.lua", "wake(now + ttr_ms * 1000)", ""), "wakes::"),
    (("lib/give_back.lua", "if was_buried then", "if false then"), "repeats::"),
    (("lib/undo_call.lua", "if holder == consumer then", "if lease then"), "repeats::"),
    (("lib/reserve_end.lua", "if soonest then wake(soonest) end", ""), "waiting::a_burst"),
    (("reserve.lua", "is_alone or bytes + #record > most_bytes", "is_alone"), "bounds::a_reserve_"),
    (
        ("lib/promote.lua", "    if bytes > 4194304 then return true end\n  end\n  return changed == 500", "  end"),
        "order::ten",
    ),
    (
        ("lib/discard.lua", "if record and not call('ZSCORE', reserved, id) then", "if false then"),
        "foreign::a_record_of",
    ),
    (("lib/discard.lua", "if record then call('HINCRBY', meta, 'buried', 1) end", ""), "traits::a_job_with"),
    (("lib/promote.lua", "or only_looks and not may_write()", ""), "looking::"),
    (("lib/give_back.lua", "--@include allow_when_full", ""), "oom::a_reserve_whose"),
    (("lib/pick.lua", "and ready_member(due, id) == member then", "then"), "foreign::"),
    (("lib/pick.lua", "local due, id = #member > 8 and", "local due, id ="), "foreign::"),
    (("lib/place.lua", "math.min(math.max(due, 0), 9007199254740991)", "due"), "foreign::"),
    (("lib/examine.lua", "late_bytes > 4000000", "false"), "moments::backlogs::large_records"),
    (("lib/look_behind.lua", "'0', 500 - late)", "'0', wanted)"), "moments::backlogs::a_backlog"),
    (("lib/look_behind.lua", "picked = call(", "picked = {} call("), "moments::backlogs::a_backlog"),
    (("lib/expire.lua", "if call('ZSCORE', reserved, id) then", "if false then"), "moments::an_entry"),
    (("lib/expire.lua", "--@include allow_when_full", ""), "moments::late_jobs_end"),
    (("take.lua", "if late > 0 and not ids[1] then", "if false then"), "moments::backlogs::the_classic"),
];
