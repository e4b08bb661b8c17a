//! A model test that no mistake can fail is worthless: every seeded mistake in the Lua must be found by the walk,
//! or by the tests that are named.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// File, its text, the mistake in its place.
type Mutant = (&'static str, &'static str, &'static str);

const MUTANTS: &[Mutant] = &[
    // Pushing.
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
    ("push_any.lua", "if old then renewed[#renewed + 1] = id end", ""),
    ("push_any.lua", "replaced = replaced + 1", ""),
    ("push_any.lua", "call('HDEL', history, unpack(renewed))", ""), // replacing keeps attempts
    ("push_any.lua", "call('ZREM', buried, unpack(renewed))", ""),  // a replaced buried job is in two states
    ("push_any.lua", "then due = due + n - 1 end", "then end"),     // a batch loses its order
    ("push_any.lua", "due, old_due, was_prioritized)", "due)"),     // a replaced job keeps its old place
    ("push_any.lua", "if was_stored then", "if false then"),        // does not know its own jobs
    ("push_any.lua", "if old and string.sub(old, 2) == string.sub(ARGV[5 * n - 1], 2) then", "if old then"), // knows others' for its own
    // Reserving.
    ("reserve.lua", "call('ZREM', waiting, unpack(ids))", ""), // reserved twice
    ("reserve.lua", "unplace(ids[n], dues[n] + 0, true)", ""), // the same
    ("reserve.lua", "is_prioritized = call('EXISTS', prioritized) == 1 -- jobs", "--"),
    ("reserve.lua", "or call('HEXISTS', meta, 'paused') == 1", ""),
    ("reserve.lua", "or call('ZCOUNT', reserved, '-inf', now_text) > 0 then", "then"), // leases never end
    ("reserve.lua", "if is_prioritized then is_more = promote() or is_more end", ""),
    ("reserve.lua", "if paused_until then", "if false then"), // pause ignored
    ("reserve.lua", "undo_call(consumer, ARGV[3])", ""),      // jobs that no handler saw
    ("reserve.lua", "call_of(ARGV[3], ids)", "''"),           // the same
    ("reserve.lua", "if has_history(flags) then past", "if false then past"),
    ("reserve.lua", "is_alone = timeouts > 0 or", "is_alone ="), // a poisoned job takes others along
    ("reserve.lua", "attempts + 1 >= max_attempts", "attempts >= max_attempts"), // so does the last attempt
    ("reserve.lua", "(is_alone or", "("),
    ("reserve.lua", "count, is_full, bytes = count + 1, is_alone,", "count, is_full, bytes = count + 1, false,"),
    ("reserve.lua", "call('HINCRBY', meta, 'token', int(count)) - count", "call('HINCRBY', meta, 'token', 1) - 1"), // tokens repeat
    ("reserve.lua", "ttr_ms and int(now + ttr_ms * 1000) or deadline, id", "deadline, id"), // a TTR of its own is forgotten
    ("reserve.lua", "(late[bucket] or 0) + 1", "1"),
    ("reserve.lua", "(mantissa < 0.70710678118654752 and 2 or 1)", "1"),
    ("reserve.lua", "waited[bucket] = (waited[bucket] or 0) - 1", ""), // counts both as late and as waiting
    ("reserve.lua", "waited[wait] = (waited[wait] or 0) + 1", ""),
    ("reserve.lua", "struct.unpack('>I8', past, 21)", "due"), // no job waits longer than it is late
    ("reserve.lua", "if is_more then return { 'AGAIN', lost } end", ""),
    ("reserve.lua", "past and '%d %s h %s' or '%d %s - %s'", "'%d %s - %s'"), // history leaks into the next job of that id
    ("reserve.lua", "math.min(first + 8, #picked - 1)", "math.min(first + 6, #picked - 1)"),
    ("reserve.lua", "if count == 0 or most == '0' then", "if count == 0 then"), // a wait leases
    ("reserve_job.lua", "else call('ZREM', buried, id) end", "end"),
    ("reserve_job.lua", "int(due or since)", "int(due or now)"),
    ("reserve_job.lua", "int(due or since)", "int(due and now or since)"),
    ("reserve_job.lua", "undo_call(ARGV[2], ARGV[3])", ""),
    ("reserve_job.lua", "(past and 'h' or '')", "''"), // history leaks into the next job of that id
    ("reserve_job.lua", "if not due and not since then return { 'MISSING' } end", ""), // reserved twice
    ("reserve_job.lua", "if reclaim() then return { 'AGAIN' } end", ""),
    ("lib/undo_call.lua", "if lines() ~= number then return end", "lines()"), // gives back jobs that were seen
    ("lib/give_back.lua", "or DEFAULT_PRIORITY, due)", "or DEFAULT_PRIORITY, now)"),
    ("lib/pick.lua", "add_prioritized('-inf', '(1024')", ""),
    ("lib/pick.lua", "add_prioritized('1024', '+inf')", ""),
    ("lib/pick.lua", "'WITHSCORES', 'LIMIT', 0, most - #picked / 2)", "'WITHSCORES', 'LIMIT', 0, most)"), // more than were wanted
    // Settling.
    ("lib/acknowledge.lua", "if held[n] == lease then", "if held[n] then"), // stale tokens pass
    ("lib/acknowledge.lua", "outcome .. runs, #done)", "outcome .. '00', #done)"), // not how long it ran
    ("lib/acknowledge.lua", "outcome .. runs, #done)", "'acked' .. runs, #done)"), // a failed run counts as done
    ("ack.lua", "if ended > 0 then call('HINCRBY', meta, 'given_up', ended) end", ""), // as if it had never been pushed
    ("ack.lua", "math.floor(#ARGV / 2) - 1 - #lost", "math.floor(#ARGV / 2) - 1"), // jobs that were not ours count
    ("lib/acknowledge.lua", "ran[run] = (ran[run] or 0) + 1", "ran[run] = 1"),
    ("lib/acknowledge.lua", "string.sub(runs, 2 * n - 1, 2 * n)", "string.sub(runs, 1, 2)"), // all as long as the first one
    ("lib/acknowledge.lua", "lost[#lost + 1] = n", ""),
    ("lib/ends.lua", "if aged[1] then call('HDEL', history, unpack(aged)) end", ""), // history leaks into the next job of that id
    ("lib/ends.lua", "call('HDEL', jobs, unpack(ids))", ""),
    ("lib/ends.lua", "call('ZREM', reserved, unpack(ids))", ""),
    ("lib/ends.lua", "call('HDEL', leases, unpack(ids))", ""),
    ("lib/ends.lua", "if not held[n] or has_marks", "if held[n] and has_marks"), // the history of a job that nobody held stays
    (
        "release.lua",
        "past.attempts, past.releases = past.attempts + 1, past.releases + 1",
        "past.releases = past.releases + 1",
    ),
    ("release.lua", "call('HSET', jobs, id, record)", ""), // the new priority is forgotten at the next lease's end
    ("release.lua", "(ARGV[4] == '1' or ARGV[6] ~= '') and read_history", "read_history"), // an attempt leaves a trace that does not count
    ("release.lua", "if ARGV[4] == '1' then past", "if true then past"), // attempts count that the caller does not count
    ("release.lua", "(ARGV[4] == '1' or ARGV[6] ~= '')", "ARGV[4] == '1'"), // forgets the error of such an attempt
    ("release.lua", "if ids[1] and ARGV[7] ~= '' then call('HINCRBY', meta, ARGV[7], #ids) end", ""),
    (
        "release.lua",
        "call('HINCRBY', meta, ARGV[7], #ids)",
        "call('HINCRBY', meta, 'released' .. ARGV[7]:sub(-2), #ids)",
    ),
    ("release.lua", "ARGV[2] == '' and read_lease(lease) or", "ARGV[2] == '' and now or"), // not its old place
    ("release.lua", "call('HGET', leases, id) == lease", "call('HGET', leases, id)"),      // stale tokens pass
    ("release.lua", "if ids[1] then end_leases(ids) end", ""),
    ("fail.lua", "past.attempts, past.error = past.attempts + 1, ARGV[5]", "past.error = ARGV[5]"),
    ("fail.lua", "past.attempts >= max_attempts", "past.attempts > max_attempts"),
    ("fail.lua", "call('HGET', leases, id) == ARGV[3]", "call('HGET', leases, id)"),
    ("fail.lua", "place(id, priority or DEFAULT_PRIORITY, due)", "place(id, DEFAULT_PRIORITY, due)"),
    ("fail.lua", "end_leases({ id })", ""),
    ("fail.lua", "call('HINCRBY', meta, 'failed' .. ARGV[6], 1)", ""),
    ("fail.lua", "read_history(id, (read_lease(ARGV[3])))", "read_history(id, now)"), // it waits anew
    ("release.lua", "read_history(id, (read_lease(lease)))", "read_history(id, now)"),
    ("bury.lua", "call('HINCRBY', meta, ARGV[6], 1)", ""),
    ("bury.lua", "call('HINCRBY', meta, ARGV[6], 1)", "call('HINCRBY', meta, 'buried' .. ARGV[6]:sub(-2), 1)"),
    ("bury.lua", "read_history(id, (read_lease(ARGV[3])))", "read_history(id, now)"),
    ("bury.lua", "past.attempts = past.attempts + 1", ""),
    ("bury.lua", "call('HGET', leases, id) == ARGV[3]", "call('HGET', leases, id)"),
    ("bury.lua", "end_leases({ id })", ""),
    ("lib/bury.lua", "past.buries + 1", "past.buries"),
    ("lib/bury.lua", "call('ZADD', buried, int(now), id)", ""),
    ("touch.lua", "deadline = now + ARGV[n + 2] * 1000", "deadline = now"),
    ("touch.lua", "if ARGV[2] == '1' then", "if false then"), // a heartbeat shortens a lease
    ("touch.lua", "call('HGET', leases, id) == ARGV[n + 1]", "call('HGET', leases, id)"),
    ("update.lua", "flags - flags % 2 +", ""), // forgets that there is a history
    ("update.lua", "string.sub(record, 8, last)", "''"),
    ("update.lua", "if lease == '' and reclaim() then return { 'AGAIN' } end", ""),
    ("update.lua", "call('HGET', leases, id) ~= lease or", ""),
    ("lib/history.lua", "if options(record) and", "if false and"), // no reserve asks for the history
    ("lib/history.lua", "counts .. past.error", "counts"),
    ("lib/record.lua", "string.sub(record, 1, 17) ..", "string.sub(record, 1, 16) .."), /* an option too short */
    ("lib/record.lua", "max_attempts, priority\nend", "DEFAULT_MAX_ATTEMPTS, priority\nend"),
    ("lib/reclaim.lua", "past.attempts + 1, past.timeouts + 1,", "past.attempts, past.timeouts + 1,"),
    ("lib/reclaim.lua", "past.attempts >= max_attempts", "false"), // poison is never buried
    ("lib/reclaim.lua", "place(id, priority or DEFAULT_PRIORITY, due)", "place(id, priority or DEFAULT_PRIORITY, now)"), // not its old place
    ("lib/reclaim.lua", "end_leases(ended)", ""),
    ("lib/reclaim.lua", "return #ended == 100", "return false"),
    ("lib/reclaim.lua", "(timed_out[run] or 0) + 1", "1"),
    ("lib/reclaim.lua", "bucket_of(ttr_ms * 1000)", "bucket_of(ttr_ms)"),
    ("lib/reclaim.lua", "read_history(id, due)", "read_history(id, now)"),
    // Moments.
    ("lib/moments.lua", "mode == 1 and first_due + value or value", "value"), // every moment is one on the clock
    ("lib/moments.lua", "past.kicks == 0 and moment", "moment"),              // a kick lifts nothing
    ("lib/moments.lua", "< math.max(next_due, now)", "< now"),
    ("lib/moments.lua", "< math.max(next_due, now)", "< next_due"),
    ("lib/expire.lua", "if past.kicks == 0 and past.attempts", "if past.attempts"),
    ("lib/expire.lua", "and past.attempts == 0 and", "and"), // later attempts expire
    ("lib/expire.lua", "string.byte(record, at + 9) == 1 and 'dropped' or 'expired'", "'expired'"),
    ("lib/moments.lua", "moment(record, 'U', past.first_due)", "moment(record, 'U', now)"),
    ("lib/expire.lua", "past.error ~= '' and past.error or TOO_LATE", "TOO_LATE"),
    ("lib/expire.lua", "if may_be_prioritized then unplace(id, due, true) end", ""),
    ("reserve.lua", "first = true, 2 * count + 1", "first = true, 1"), // leases a job twice
    ("reserve.lua", "if has_picked_more and count == wanted + 0 then is_full = true end", ""), // more than were wanted
    ("reserve.lua", "if late > 0 and not picked[first]", "if false and not picked[first]"), // fewer than there are
    ("reserve_job.lua", "if expire(id, record, due, true) then return { 'MISSING' } end", ""),
    ("take.lua", "elseif record and is_ended(id, record, due) then", "elseif false then"),
    ("fail.lua", "is_spent = is_too_late(record, past, due)", ""),
    ("fail.lua", "if is_spent and reason == '' then reason = TOO_LATE end", ""),
    ("release.lua", "is_late = is_too_late(record, past, due)", ""),
    ("lib/reclaim.lua", "is_spent = is_too_late(record, past, due)", ""),
    // Operations without a lease.
    ("cancel.lua", "remove(ids)", ""),
    ("cancel.lua", "call('HINCRBY', meta, 'cancelled', #ids)", ""),
    ("lib/remove.lua", "call('ZREM', prioritized_ready, ready_member(dues[n] + 0, id))", ""),
    ("lib/remove.lua", "{ waiting, prioritized, buried }", "{ waiting, prioritized }"),
    ("reschedule.lua", "past.first_due = due", "past.first_due = now"),
    ("reschedule.lua", "if not old_due then call('ZREM', buried, id) end", ""),
    ("reschedule.lua", "place(id, priority, due, old_due, was_prioritized)", "place(id, priority, due)"),
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
    ("take.lua", "ipairs({ waiting, prioritized })", "ipairs({ waiting })"),
    ("take.lua", "if #reply > 2 then call('HINCRBY', meta, 'acked', #reply - 2) end", ""),
    ("purge.lua", "if state == 'ready' then high = int(now) end", ""),
    ("purge.lua", "low = '(' .. int(now)", ""),
    ("purge.lua", "state == 'buried' and { buried } or", ""),
    ("forget.lua", "pause_end() or", ""),
    ("forget.lua", "call('UNLINK', unpack(KEYS))", ""),
    ("pause.lua", "and now + ARGV[2]", "and now + ARGV[2] / 2"),
    ("resume.lua", "call('HDEL', meta, 'paused') == 1", "call('HEXISTS', meta, 'paused') == 1"),
    ("lib/pause_end.lua", "try('HDEL', meta, 'paused')", ""),
    ("lib/clock.lua", "+ time[2] + ARGV[1]", "+ time[2]"), // no test travels in time
    ("lib/place.lua", "if was_prioritized then call('ZREM', prioritized_ready, ready_member(old_due, id)) end", ""),
    ("lib/place.lua", "if was_prioritized then call('ZREM', prioritized, id) end", ""),
    ("lib/place.lua", "call('ZRANK', prioritized, id) < call('ZCARD', prioritized_ready)", "false"), // served too late
    ("lib/place.lua", "if old_due and not was_prioritized then call('ZREM', waiting, id) end", ""),
    ("lib/promote.lua", "if ready > due_now then", "if false then"), // not when the clock is set back
    ("lib/promote.lua", "int(priority or 0), ready_member", "0, ready_member"),
    // Looking.
    ("list.lua", "add_prioritized(offset, math.min(last, urgent - 1))", ""),
    ("list.lua", "or ARGV[2] == 'ready' and promote(true)", ""),
    ("list.lua", "math.max(offset - due_now, urgent)", "urgent"),
    (
        "lib/merge.lua",
        "if mine and other and is_before(mine, other) then low = mid + 1 else high = mid end",
        "high = mid",
    ),
    ("lib/merge.lua", "if mine and (not other or is_before(mine, other)) then", "if mine then"),
    ("list.lua", "offset = offset + count_up_to(", "offset = count_up_to("),
    ("lib/after.lua", "call('ZRANK', key, member) + 1, true", "call('ZRANK', key, member), true"), // shows the job itself again
    ("lib/after.lua", "if score and int(score) == at then", "if score then"), // goes by where the job is now
    ("lib/after.lua", "math.max(0, first - due_now)", "first - due_now"),
    ("lib/after.lua", "math.max(0, up_to(prioritized, at, id) - call('ZCOUNT', prioritized, '-inf', int(now)))", "0"),
    ("lib/after.lua", "and at + 0 <= now and not promoted", "and not promoted"), // the clock was set back
    ("lib/after.lua", "call('ZCOUNT', prioritized_ready, '-inf', '(1024') + math.min", "math.min"),
    ("lib/after.lua", "(priority + 0 < 1024 and 0 or due_now)", "0"),
    ("lib/after.lua", "(priority + 0 < 1024 and 0 or due_now)", "due_now"),
    ("peek.lua", "due <= now and 'ready' or 'delayed'", "'ready'"),
    ("stats.lua", "if due and (not oldest or due < oldest) then", "if due and (not oldest or due > oldest) then"),
    ("stats.lua", "local is_paused = pause_end() and 1 or 0", "local is_paused = 0"),
];

/// Mistakes that the walk cannot see, and the tests that must: waiting, faults, foreign hands, limits.
const OTHERS: &[(Mutant, &str)] = &[
    (
        ("lib/wake.lua", "or try('ZCARD', waiters) == 0 then return end", "or true then return end"),
        "waiting::a_push_wakes",
    ),
    (("lib/idle.lua", "at = math.max(soonest, now)", "at = at"), "idle_check::a_waiter_that_never_looks"),
    (("reserve.lua", "snapshot() -- before", "-- before"), "stats::"),
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
    (("lib/after.lua", "math.min(first, due_now)", "first"), "pages::the_place"), // the clock was set back
    (("lib/after.lua", "promoted and int(promoted) or priority", "priority"), "pages::"), // of a damaged record
    (("lib/less.lua", "if mine ~= other then return mine < other end", ""), "pages::"),
    (("lib/less.lua", "return #a < #b", "return #a > #b"), "pages::"),
    (("push.lua", "wake(soonest)", ""), "wakes::"),
    (("push_any.lua", "wake(soonest)", ""), "wakes::"),
    (("release.lua", "wake(soonest)", ""), "wakes::"),
    (("fail.lua", "wake(due)", ""), "wakes::"),
    (("touch.lua", "wake(soonest)", ""), "wakes::"),
    (("reschedule.lua", "wake(due)", ""), "wakes::"),
    (("kick.lua", "wake(now)", ""), "wakes::"),
    (("kick_job.lua", "wake(now)", ""), "wakes::"),
    (("reserve_job.lua", "wake(now + ttr_ms * 1000)", ""), "wakes::"),
    (("resume.lua", "wake(now)", ""), "wakes::"),
    (("repair.lua", "wake(now)", ""), "wakes::"),
    (("leave.lua", "call('ZREM', waiters, ARGV[2])", ""), "many_queues::leaving_takes"),
    (("leave.lua", "if soonest then wake(soonest) end", ""), "wakes::"),
    (("lib/idle.lua", "if soonest then wake(soonest) end", ""), "wakes::"),
    (("lib/idle.lua", "try('ZREM', waiters, waiter)", ""), "wakes::"),
    (("lib/kick.lua", "now, old_due, was_prioritized)", "now)"), "model::walk::regressions::a_job_of_another"),
    (("lib/give_back.lua", "if was_buried then", "if false then"), "repeats::"),
    (("lib/undo_call.lua", "if holder == consumer then", "if lease then"), "repeats::"),
    (("update.lua", "if ARGV[6] and kept ~= ARGV[6] then", "if false then"), "repeats::"),
    (("push_any.lua", "end_leases(over)", ""), "duplicates::a_push_that_replaces"),
    (
        ("push_any.lua", "deadline + 0 <= now and try('HGET', leases, id)", "false"), // a lease that is over is in the way
        "duplicates::a_push_that_replaces",
    ),
    (("push_any.lua", "call('HINCRBY', meta, 'timed_out', #over)", ""), "stats::a_lease_that_a_push_ends"),
    (("push_any.lua", "or is_aged[id]", ""), "repeats::"), // puts off a released job
    (("push.lua", "call('ZADD', waiting, unpack(places))", "redis.pcall('ZADD', waiting, unpack(places))"), "denied::"),
    (("lib/ends.lua", "call('HDEL', jobs, unpack(ids))", "try('HDEL', jobs, unpack(ids))"), "denied::"),
    (("lib/wake.lua", "cover(at + SECOND_LOOK_US, at > now and 1 or 0)", ""), "idle_check::a_ready_job_reaches"),
    (("lib/idle.lua", "at = math.min(at, soonest + SECOND_LOOK_US)", ""), "idle_check::a_waiter_that_never_looks"),
    (("reserve.lua", "if soonest then wake(soonest) end", ""), "waiting::a_burst"),
    (("lib/allow_when_full.lua", "call('ZREM', reserved, '')", ""), "oom::"),
    (("push_any.lua", "call('ZADD', waiting, 'XX', '0', '')", ""), "oom::"),
    (("lib/check_types.lua", "call('ZCARD', key)", ""), "wrongtype::"),
    (("lib/check_types.lua", "call('HLEN', key)", ""), "wrongtype::"),
    (
        (
            "push.lua",
            "string.sub(call('HGET', jobs, id), 2) == string.sub(record, 2)",
            "call('HGET', jobs, id) == record",
        ),
        "duplicates::a_push_knows",
    ),
    (("push.lua", "soonest <= now + 6000000 and", "soonest <= now and"), "waiting::"),
    (("reserve.lua", "is_alone or bytes + #record > most_bytes + 0", "is_alone"), "bounds::a_reserve_"),
    (
        ("lib/promote.lua", "    if bytes > 4194304 then return true end\n  end\n  return changed == 500", "  end"),
        "order::ten",
    ),
    (
        ("lib/discard.lua", "if record and not call('ZSCORE', reserved, id) then", "if false then"),
        "foreign::a_record_of",
    ),
    (("lib/discard.lua", "if record then call('HINCRBY', meta, 'buried', 1) end", ""), "traits::a_job_with"),
    (("lib/record.lua", "if not string.find(record, '^%l', at + 1) and", "if false and"), "traits::a_job_with"),
    (("lib/record.lua", "return math.max(ttr_ms, SHORTEST_TTR_MS)", "return ttr_ms"), "foreign::a_job_without"),
    (("update.lua", ".. kept .. traits ..", ".. kept .."), "traits::every_operation"),
    (("lib/reclaim.lua", "only_looks and not may_write()", "false"), "looking::"),
    (("lib/promote.lua", "or only_looks and not may_write()", ""), "looking::"),
    (("lib/give_back.lua", "--@include allow_when_full", ""), "oom::a_reserve_whose"),
    (("lib/forget_calls.lua", "if is_held then break end", ""), "bounds::cancelling"),
    (
        ("push.lua", "elseif mode ~= 'keep' and", "elseif mode == 'fail_again' and"),
        "duplicates::a_batch_that_is_repeated_adds",
    ),
    (
        ("push_any.lua", "was_stored, stored[id], is_aged[id] = true,", "was_stored, stored[id], is_aged[id] = false,"),
        "duplicates::a_batch_that_is_repeated_adds",
    ),
    (("forget.lua", "or call('HLEN', jobs) > 0", ""), "forget::jobs_that"),
    (("forget.lua", "if is_covered(math.huge, 0) then return 'USED' end", ""), "forget::a_paused"),
    (("kick.lua", "call('ZREM', buried, id)", ""), "foreign::"),
    (("repair.lua", "place(id, priority or DEFAULT_PRIORITY, now)", ""), "deleted_keys::leases_that_nobody"),
    (("repair.lua", "and not (is_held and", "and not (false and"), "deleted_keys::a_repair"),
    (("repair.lua", "end_leases({ id })", ""), "deleted_keys::leases_that_nobody"),
    (("repair.lua", "give_back(id, lease)", ""), "deleted_keys::jobs_whose_place"),
    (("repair.lua", "      bury(id,", "      place(id, 1024, now) -- bury(id,"), "deleted_keys::jobs_whose_place"),
    (("lib/pick.lua", "and ready_member(due, id) == member then", "then"), "foreign::"),
    (("lib/pick.lua", "local due, id = #member > 8 and", "local due, id ="), "foreign::"),
    (("lib/place.lua", "math.min(math.max(due, 0), 9007199254740991)", "due"), "foreign::"),
    (("lib/remove.lua", "if consumer and not told[consumer] then", "if false then"), "keeping::a_keeper_hears"),
    (("release.lua", "if ARGV[6] ~= '' then past.error = ARGV[6] end", ""), "lifecycle::a_release_leaves"),
    (("lib/reclaim.lua", "return workers .. ', ' .. worker", "return workers"), "lifecycle::a_job_that_outlives"),
    (("lib/reclaim.lua", "if #workers > 400 or ", "if "), "lifecycle::a_job_that_outlives"),
    (("reserve.lua", "is_full = late_bytes > 4000000", ""), "moments::backlogs::large_records"),
    (("reserve.lua", "'LIMIT', '0', 500 - late)", "'LIMIT', '0', wanted)"), "moments::backlogs::a_backlog"),
    (("reserve.lua", "pick_more and pick_more(500 - late)", "nil"), "moments::backlogs::a_backlog"),
    (("lib/expire.lua", "if call('ZSCORE', reserved, id) then", "if false then"), "moments::an_entry"),
    (("lib/expire.lua", "--@include allow_when_full", ""), "moments::late_jobs_end"),
    (("release.lua", "past.error ~= '' and past.error or TOO_LATE", "TOO_LATE"), "moments::a_release"),
    (("release.lua", "set_aside[#set_aside + 1] = (n - 6) / 2", ""), "moments::a_release"),
    (("take.lua", "if late > 0 and not ids[1] then", "if false then"), "moments::backlogs::the_classic"),
];

const WALK: &str = "model::walk::jobs_are_never_lost_doubled_or_out_of_order";

#[test]
fn every_seeded_mistake_is_found() {
    every_one_is_found(MUTANTS.iter().map(|mutant| (*mutant, WALK)).collect());
}

#[test]
fn every_seeded_mistake_that_no_walk_can_find_is_found_by_others() {
    every_one_is_found(OTHERS.to_vec());
}

fn every_one_is_found(mutants: Vec<(Mutant, &str)>) {
    let unchanged = ("push.lua", "local call", "local call");
    assert!(survives(&unchanged, "model::walk::regressions"), "tests must pass on unchanged scripts");
    let (next, survivors) = (Mutex::new(mutants.iter()), Mutex::new(Vec::new()));
    let work = || {
        while let Some((mutant, test)) = { next.lock().unwrap().next() } {
            if survives(mutant, test) {
                survivors.lock().unwrap().push(format!("{mutant:?} by {test}"));
            }
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let survivors = survivors.into_inner().unwrap();
    assert!(survivors.is_empty(), "{} of {} not found: {survivors:#?}", survivors.len(), mutants.len());
}

fn survives((file, from, to): &Mutant, test: &str) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua");
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("lib")).unwrap();
    for folder in ["", "lib"] {
        for entry in std::fs::read_dir(source.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                std::fs::copy(&path, dir.path().join(folder).join(path.file_name().unwrap())).unwrap();
            }
        }
    }
    let path = dir.path().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has changed: '{from}' is not in it");
    std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg(test)
        .env("DELAYQUEUE_LUA_DIR", dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(600);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.success();
        }
        if Instant::now() > end {
            child.kill().unwrap(); // it goes round in circles: that is found, too
            child.wait().unwrap();
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
