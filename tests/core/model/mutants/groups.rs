//! Mistakes in groups: books, turns, limits and closings.

use super::Mutant;

/// The walk with groups finds them.
pub const BY_THE_WALK: &[Mutant] = &[
    ("lib/ends.lua", "is_let_in = let_in(names) or is_capped", "is_let_in = is_capped"), // a place that is free again lets nobody in
    ("lib/acknowledge.lua", "(second == 32 or second == 97)", "true"), // a group's job that came back ends as a plain one
    ("lib/ends.lua", "call('ZREM', groups, unpack(entries))", ""),     // a job that has ended is held for ever
    ("lib/let_in.lua", "places[#places + 2] = int(at), group", "places[#places + 2] = int(at + 3000000), group"), // stands too late
    ("lib/back.lua", ".ordered then", ".ordered and false then"), // a job that came back is not the first
    ("lib/turns.lua", "if not priority and turn.own.ordered then", "if false then"), // nor does its group wait for it
    ("lib/turns.lua", "turn.room = math.min(turn.room, turn.free)", ""), // concurrency is ignored
    ("lib/turns.lua", "return math.floor((now + own.burst", "return math.huge or math.floor((now + own.burst"), // a batch takes any number of tokens
    ("lib/turns.lua", "if opens(name, own, 0) > now then return 0 end", ""), // closed groups are served
    ("lib/turns.lua", "if due > now then", "if due > now + 5000 then"),      // early
    ("lib/turns.lua", "if turn.free <= turn.leased then return nil end", ""), // a full group stays in line
    ("lib/turns.lua", "or name ~= '\\n' and found[1]", ""),                  // the limits of all others are ignored
    ("lib/take_turns.lua", "give(turn, turn.own.weight - turn.used)", "give(turn, most)"), // all at once
    ("lib/take_turns.lua", "if due and not (group and at < due) then", "if due then"), // other jobs go first
    ("lib/take_turns.lua", "for _, turn in ipairs(turns) do give(turn, turn.own.weight) end", ""), // a batch is not filled
    (
        "lib/take_turns.lua",
        "is_more = (stand(wrong) or math.huge) <= now or is_more",
        "for _, pair in ipairs(wrong) do call('ZREM', line, pair[1].group) end",
    ), // a blocked group is forgotten
    ("lib/lend.lua", "pair[2] = now - #theirs + turn.last", "pair[2] = turn.at"),                  // no turns
    ("lib/lend.lua", "+ turn.leased * own.interval", "+ own.interval"), // a batch costs one token
    ("lib/lend.lua", "call('ZREM', groups, unpack(entries))", ""),      // it waits and is held
    ("lib/tokens.lua", "if string.find(marks, '[gl]') then charge", "if false then charge"), // no token comes back
    ("lib/book.lua", "if entry ~= kept and call('ZREM', groups, entry) == 1 then return false end", ""), // the old place stays
    (
        "lib/book.lua",
        "call('ZADD', line, 'LT', int(math.max(at, now)), group)",
        "call('ZADD', line, 'NX', int(math.max(at, now)), group)",
    ), // an earlier job comes late
    ("lib/servable.lua", "elseif turn.own.ordered then break end", "end"), // jobs behind one that came back do not count as blocked
    ("lib/cap.lua", "held and own.concurrency - held or wanted", "wanted"), // the concurrency of the queue is ignored
    ("lib/mark_rarely.lua", "(n == 1 and ' ' or 'a ')", "' '"), // a crash costs its group's jobs an attempt that waited behind others
    ("lib/take_rarely.lua", "cap.spent_until + count * cap.interval", "cap.spent_until + cap.interval"),
    ("lib/take_rarely.lua", "call('ZREM', grouped, unpack(their_ids))", ""),
    ("reserve_job.lua", "if group then call('ZADD', groups, 0, group .. '\\nh' .. id) end", ""), // does not count
    ("push.lua", "call('ZADD', line, 'LT', unpack(stands))", "call('ZADD', line, 'NX', unpack(stands))"),
    ("limit_groups.lua", "turns[1] and stand(turns)", "nil"), // new limits let nobody in
    ("limit_groups.lua", "if turns[n][2] > now then turns[n][2] = now end", ""), // nor earlier
    ("rate_limit.lua", "'GT', int(ends)", "int(ends)"),       // shortens a closing
    ("resume.lua", "line_up(ARGV[2], now)", ""),
    ("pause.lua", "line_up(group, ends or now)", ""), // a shorter pause ends as late as the longer one before
];

/// The tests that are named find them.
pub const BY_OTHERS: &[(Mutant, &str)] = &[
    (("lib/book.lua", "line_up(group, now)\n  return call", "return call"), "groups::whatever_ends_the_wait"), // of a job that is gone
    (
        ("cancel_group.lua", "and '\\nh' or '\\nr')", "and '\\nh' or '\\nw')"),
        "model::walk::regressions::a_job_that_came_back_to_an_ordered_group_is_cancelled",
    ),
    (
        ("lib/lend.lua", "if used < own.weight then", "if used <= own.weight then"),
        "model::walk::regressions::a_group_of_some_weight",
    ),
    (
        ("lib/kick.lua", "if where ~= grouped or not hurry(id, old_due, record) then", "if true then"),
        "model::walk::regressions::a_job_that_came_back_to_an_ordered_group_stays",
    ),
    (("push_any.lua", "came_back[id] or old and", "old and"), "model::walk::regressions::a_job_that_came_back_begins"),
    (
        ("lib/take_turns.lua", "give(turn, turn.own.weight - turn.used)", "give(turn, 1)"),
        "model::walk::regressions::a_group_of_some_weight",
    ),
    (("lib/remove.lua", "try('ZREM', line, group)", ""), "group_edges::a_group_whose_last_job_is_cancelled"),
    (
        ("lib/remove.lua", "'(' .. group .. '\\v'", "'(' .. group .. '\\n'"),
        "group_edges::a_group_whose_last_job_is_cancelled",
    ),
    (("lib/remove.lua", "try('HDEL', limits, group .. '\\n')", ""), "model::walk::regressions::a_turn_ends"),
    (("lib/let_in.lua", "if own.ordered and", "if"), "model::walk::regressions::a_group_that_is"),
    (
        ("lib/look_behind.lua", "if not (has_turns and count > 0) then", "if not has_turns then"),
        "group_edges::expired_jobs_of_groups",
    ),
    (
        ("lib/turns.lua", "if has_limits then words", "if turn.own.weight > 1 then words"),
        "model::walk::regressions::a_turn",
    ),
];
