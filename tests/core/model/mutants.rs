//! A model test that no mistake can fail is worthless: every seeded mistake in the Lua must be found by the walk, or, where it is
//! about what was leased unseen, by the tests of that.

use std::path::Path;
use std::process::{Command, Stdio};

/// File, what stands there, the mistake.
type Mutant = (&'static str, &'static str, &'static str);

const MUTANTS: &[Mutant] = &[
    ("push.lua", "(us - 1577836800000000) * 32", "(9000000000000000 - us) * 32"), // push order reversed
    ("push.lua", "elseif delay == '0' then", "elseif true then"),                 // delays forgotten
    ("push.lua", "call('ZREM', KEYS[1], member)", ""), // a refused duplicate leaves its member
    ("push.lua", "(added == 1 or not is_ours)", "added == 7"), // what is put right stays in both places
    ("push_many.lua", "local at = quarter + n", "local at = quarter - n"), // batch order reversed
    ("reschedule.lua", "h.due = due", "h.due = h.due"), // forgotten at the next lease's end
    ("push_many.lua", "call('HDEL', history, ids[n])", ""), // replacing keeps attempts
    ("push_many.lua", "call('ZREM', buried, ids[n])", ""), // a replaced buried job is in two states
    ("reserve.lua", "call('ZREMRANGEBYRANK', waiting", "call('ZRANGE', waiting"), // reserved twice
    ("reserve_next.lua", "call('ZREMRANGEBYRANK', waiting", "call('ZRANGE', waiting"), // reserved twice
    ("reserve_next.lua", "if expiry <= now or", "if"), // leases never end
    (
        "reserve_next.lua",
        "'head', struct.pack('>BI6I6I6BI4', kind, token + 1,",
        "'head', struct.pack('>BI6I6I6BI4', kind, token,",
    ), // tokens repeat
    ("reserve_next.lua", "call('HDEL', jobs", "call('HGET', jobs"), // acknowledged and not removed
    ("reserve_next.lua", "deadline < expiry then expiry", "deadline > expiry then expiry"), // believes no lease ends
    (
        "reserve_next.lua",
        "bucket, uncounted, counted = this_bucket, 0,",
        "bucket, uncounted, counted = this_bucket, 1,",
    ), // counts too many
    ("reserve_next.lua", "ttr = unpacked('>I4', record, at + 2)", "ttr = 60000"), // a TTR of its own is forgotten
    ("reserve.lua", "counts[last_bucket] = ", "counts[last_bucket] = 0 * "), // lateness is forgotten
    ("reserve_unseen.lua", "call('ZREMRANGEBYRANK', waiting", "call('ZRANGE', waiting"), // reserved twice
    ("reserve_unseen.lua", "kind, token + count,", "kind, token,"), // tokens repeat
    ("reserve_unseen.lua", "acknowledged + acked", "acknowledged"), // counts too few
    ("reserve_unseen.lua", "call('HDEL', KEYS[1]", "call('HMGET', KEYS[1]"), // acknowledged and not removed
    ("reserve_unseen.lua", "deadline < expiry then expiry", "deadline > expiry then expiry"), // believes no lease ends
    ("reserve_unseen.lua", "expiry, bucket, uncounted + count", "expiry, bucket, uncounted"), // lateness is forgotten
    ("reserve_unseen.lua", "~= this_bucket then return { 'OTHER' } end", "== 0 then return { 'OTHER' } end"), // all as late as the first
    ("bury.lua", "h.attempts + 1, due_of", "h.attempts, due_of"), // attempts not counted
    ("reserve.lua", "if expiry <= now then --", "if false then --"), // leases never end
    ("reserve.lua", "kind, token + count,", "kind, token,"),      // tokens repeat
    ("reserve.lua", "if kind ~= 16 then", "if kind >= 20 then"),  // pause and priorities ignored
    ("reserve.lua", "call('HDEL', jobs, unpack(done, 2, many + 1))", "call('HLEN', jobs)"), // acknowledged and not removed
    ("reserve.lua", "if flags == 1 then call('HDEL'", "if false then call('HDEL'"), // history leaks into the next job of that id
    ("reserve_or_wait.lua", "if not more and not is_paused then", "if not more then"), // pause ignored
    ("reserve_or_wait.lua", "call('ZRANGEBYSCORE', reserved", "call('ZRANGEBYSCORE', buried"), // leases never end
    ("reserve_or_wait.lua", "token + #ids, acknowledged", "token, acknowledged"),   // tokens repeat
    ("lib/settle.lua", "acked = acked + #done", "acked = acked - #done"),           // wrong counter
    ("release.lua", "h.attempts, h.releases = h.attempts + 1", "h.attempts, h.releases = 0"),
    ("fail.lua", "h.attempts >= max_attempts", "h.attempts > max_attempts"),
    ("fail.lua", "end_lease(ARGV[2], entry)", ""), // failed jobs stay leased
    ("bury.lua", "set_aside(entry.id, h, ARGV[4])", "write_history(entry.id, h)"), // buried jobs are lost
    ("touch.lua", "entry.deadline, changed = now + ttr", "entry.deadline, changed = now"),
    ("cancel.lua", "end_lease(slot, entry)", ""), // a cancelled lease stays
    ("kick_job.lua", "if due and due > now then", "if due then"), // ready jobs can be kicked
    ("reschedule.lua", "if is_buried then\n", "if false then\n"), // buried jobs cannot be rescheduled
    ("take.lua", "return a.due < b.due", "return a.due > b.due"),
    ("purge.lua", "call('HDEL', history, unpack(ids))", ""), // history leaks into the next job of that id
    ("lib/reclaim.lua", "place(entry.id, job, h.due, true)", "place(entry.id, job, now, true)"), // not its old place
    ("lib/reclaim.lua", "h.attempts >= max_attempts", "false"), // poison is never buried
    ("lib/settle.lua", "entry.token >= first + many then", "entry.token >= first + many + 1 then"), // acknowledges its neighbours
    ("reserve.lua", "deadline < expiry then expiry", "deadline > expiry then expiry"), // believes no lease ends
    ("lib/head.lua", "if deadline < expiry", "if deadline > expiry"),                  // the same after a short touch
    ("lib/lease.lua", "entry.deadline < first", "entry.deadline > first"), // a slot sleeps until its last lease
    ("lib/lease.lua", "if entry.token == token then", "if true then"),     // stale tokens pass
    ("lib/place.lua", "if due > now then", "if due >= now then"),          // due jobs wait among the later ones
    ("lib/promote.lua", "call('ZREM', later, unpack(members))", ""),       // promoted twice
    ("lib/pick.lua", "add_ready('-inf', '(1024')", ""),                    // urgent jobs after the default ones
    ("lib/kick.lua", "if reset_attempts then h.attempts = 0 end", ""),
    ("push.lua", "after >= 0 and after < 16777215", "after < 16777215"), // what was due before it was pushed is due in hours
    ("lib/due.lua", "if after >= 0 and after < FAR", "if after < FAR"),  // the same of batches
    ("lib/due.lua", "or struct.unpack('>I6', record, 11)", "or stamped_at(units)"), // such a job changes places when its lease ends
    ("lib/due.lua", "and 17 or 11", "and 11 or 11"), // its options are read out of its due time
    ("lib/record.lua", "string.sub(record, body_at(record))", "string.sub(record, 11)"), // rescheduled, it has them twice
    ("push_many.lua", "pack_due(math.floor(at / 32),", "pack_due(math.floor(quarter / 32) - 125,"), // due a millisecond late
    ("update.lua", "local payload_at = body_at(record)", "local payload_at = 11"), // an update damages it
    ("release.lua", "body_at(record)", "11"),                                      // and so does another priority
    ("reserve_or_wait.lua", "body_at(records[n]) + 10", "21"),                     // a ranked one stays among the ripe
    ("reserve.lua", "own_ttr = unpacked('>I4', record, 19)", ""),                  // a lease of another TTR
    ("reserve.lua", "1577836800000 + after", "1577836700000 + after"),             // later than it is
    ("reserve_next.lua", "1577836800000 + after", "1577836700000 + after"),        // later than it is
    ("lib/move.lua", "if due > now or old ~= new then call('ZREM', ripe, old) end", ""),
];

/// About what was leased unseen, which the walk seldom does.
const UNSEEN: &[Mutant] = &[
    ("reserve_unseen.lua", "if count < 2 then", "if count < 1 then"), // one is had for less otherwise
    ("reserve_unseen.lua", "#member < 8 or", ""),
    ("reserve_unseen.lua", "#member > 262 or", ""),
    ("reserve_unseen.lua", "or byte(member, 7) % 8 ~= 0", ""), // past and options of a job are forgotten
    ("reserve_unseen.lua", "if string.find(concat(ids), '\\0', 1, true)", "if false"), // nobody can read the slot
    ("reserve_unseen.lua", "#head < 24", "#head < 19"),
    ("reserve_unseen.lua", "if kind ~= 16 or", "if kind >= 32 or"), // pause and priorities ignored
    ("reserve_unseen.lua", "or expiry <= now then", "then"),        // leases never end
    ("reserve_unseen.lua", "deadline < expiry then expiry", "deadline > expiry then expiry"), // believes no lease ends
    ("reserve_unseen.lua", "~= this_bucket then return", "== 99 then return"), // lateness of one for all
    ("reserve_unseen.lua", "if this_bucket ~= bucket or", "if"),    // lateness is forgotten
    ("reserve_unseen.lua", "or uncounted >= 4000000000", ""),
    ("reserve_unseen.lua", "if flags == 1 or", "if"), // history leaks into the next job of that id
    ("reserve_unseen.lua", "or many == 0 or many ~= acked", "or many == 0"), // acknowledges what it was not asked to
    ("reserve_unseen.lua", "many == 0 or", ""),
    ("reserve_unseen.lua", "or first ~= ARGV[4] + 0", ""), // stale tokens pass
    ("reserve_unseen.lua", "many == 1 and flags == 0 and", "many == 1 and"), // the stamp for a part of the id
    ("reserve_unseen.lua", "many == 1 and flags == 0 and", "false and"), // another job's record is removed
    ("reserve_unseen.lua", "if not done[1] then", "if false then"),
    ("reserve_unseen.lua", "elseif acked > 0 then", "elseif false then"),
    ("reserve_unseen.lua", "call('HDEL', KEYS[1]", "call('HMGET', KEYS[1]"), // acknowledged and not removed
    ("reserve_unseen.lua", "else\n  call('ZREM', reserved, '')", "else"),    // refused while Redis has no memory left
    ("reserve_unseen.lua", "struct.pack('>BI2I6I6', 2,", "struct.pack('>BI2I6I6', 0,"), // nobody knows that it was unseen
    ("reserve_unseen.lua", "kind, token + count,", "kind, token,"),                     // tokens repeat
    ("reserve_unseen.lua", "acknowledged + acked", "acknowledged"),                     // wrong counter
    ("reserve_unseen.lua", "uncounted + count))", "uncounted + 1))"),                   // the same
    ("reserve_unseen.lua", "if not held_until or held_until > deadline then", "if not held_until then"),
    ("reserve_unseen.lua", "call('ZREMRANGEBYRANK', waiting", "call('ZRANGE', waiting"), // reserved twice
    ("reserve_unseen.lua", "format('%d', count - 1)", "format('%d', count)"),            // one more is lost
    ("disown.lua", "if not gone[entry.token]", "if gone[entry.token]"),
    ("disown.lua", "--@include unlock", ""), // refused while Redis has no memory left
    ("reserve.lua", "if flags > 1 then return", "if false then return"), // reads a stamp as a lease
    ("reserve.lua", "many == 1 and flags < 2 and", "many == 1 and"), // the stamp for a part of the id
    ("lib/lease.lua", "local last = is_unseen and #record - 7 * count or #record", "local last = #record"),
    ("lib/lease.lua", "if is_unseen then entries[n].stamp =", "if false then entries[n].stamp ="),
    ("lib/lease.lua", "if is_unseen then entry.stamp, at =", "if false then entry.stamp, at ="),
    ("lib/lease.lua", ".. '\\0' .. table.concat(stamps)", ".. '\\0'"), // stamps are forgotten
    ("lib/lease.lua", ".. entry.id .. (entry.stamp or '')", ".. entry.id"), // the same
    ("lib/lease.lua", "return born == of_born and last", "return last"), // any record may do
    ("lib/lease.lua", "and last - last % 8 == of_last - of_last % 8", ""), // that of a job of the same moment will do
    ("lib/lease.lua", "last - last % 8 == of_last - of_last % 8", "last == of_last"), // not found after its priority changed
    ("lib/held.lua", " and (not entry.stamp or record_of(entry))", ""),               // a stray holds a job
    ("lib/replay.lua", "= record_of(entry)", "= call('HGET', jobs, entry.id)"),       // a stray is handed out
    ("lib/reclaim.lua", "= record_of(entry)", "= call('HGET', jobs, entry.id)"), // a stray's end puts a job in two places
    ("release.lua", "and record_of(entry)", "and call('HGET', jobs, entry.id)"), // the same
    ("fail.lua", "and record_of(entry)", "and call('HGET', jobs, entry.id)"),    // the same
    ("bury.lua", "and record_of(entry)", "and call('HGET', jobs, entry.id)"),    // the same
    ("list.lua", "if not entry.stamp or record_of(entry) then add", "if true then add"), // listed twice
    ("purge.lua", "if not entry.stamp or record_of(entry) then ids", "if true then ids"), // a job goes that is not held
];

const WALK: &[&str] = &["--exact", "model::walk::jobs_are_never_lost_doubled_or_out_of_order"];

#[test]
fn every_seeded_mistake_is_found() {
    every_one_is_found(MUTANTS, WALK);
}

#[test]
fn every_seeded_mistake_about_unseen_leases_is_found() {
    every_one_is_found(UNSEEN, &["unseen::", "strays::", "--skip", "mutants"]);
}

fn every_one_is_found(mutants: &[Mutant], tests: &[&str]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua");
    assert!(survives(&source, &("push.lua", "local call", "local call"), tests), "they must pass on unchanged scripts");
    let survivors: Vec<String> =
        mutants.iter().filter(|mutant| survives(&source, mutant, tests)).map(|mutant| format!("{mutant:?}")).collect();
    assert!(survivors.is_empty(), "not found by {tests:?}: {survivors:#?}");
}

fn survives(source: &Path, (file, from, to): &Mutant, tests: &[&str]) -> bool {
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
    Command::new(std::env::current_exe().unwrap())
        .args(tests)
        .env("DELAYQUEUE_LUA_DIR", dir.path())
        .env("DELAYQUEUE_MODEL_STEPS", "2600")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}
