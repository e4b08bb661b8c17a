//! Mistakes in waiting and waking.

use super::Mutant;

/// The tests that are named find them.
pub const BY_OTHERS: &[(Mutant, &str)] = &[
    (
        ("lib/wake.lua", "or try('ZCARD', waiters) == 0 then return end", "or true then return end"),
        "waiting::a_push_wakes",
    ),
    (("lib/idle.lua", "at = math.max(soonest, now)", "at = at"), "idle_check::a_waiter_that_never_looks"),
    (("leave.lua", "call('ZREM', waiters, ARGV[2])", ""), "many_queues::leaving_takes"),
    (("leave.lua", "if soonest then wake(soonest) end", ""), "wakes::"),
    (("lib/idle.lua", "if soonest then wake(soonest) end", ""), "wakes::"),
    (("lib/idle.lua", "try('ZREM', waiters, waiter)", ""), "wakes::"),
    (("lib/wake.lua", "cover(at + SECOND_LOOK_US, at > now and 1 or 0)", ""), "idle_check::a_ready_job_reaches"),
    (("lib/idle.lua", "at = math.min(at, soonest + SECOND_LOOK_US)", ""), "idle_check::a_waiter_that_never_looks"),
    (("limit_groups.lua", "if soonest then", "if soonest and soonest <= now then"), "wakes::every_transition"),
    (("lib/move.lua", "is_opened and math.min(due, now) or due", "due"), "wakes::every_transition"),
    (
        (
            "push_any.lua",
            "soonest = math.min(soonest, due, is_opened and now or due)",
            "soonest = math.min(soonest, due)",
        ),
        "wakes::every_transition",
    ),
    (
        (
            "push_once.lua",
            "soonest = math.min(soonest, due, is_opened and now or due)",
            "soonest = math.min(soonest, due)",
        ),
        "wakes::every_transition",
    ),
    (
        ("lib/let_in.lua", "'LT', 'CH', unpack(places)) > 0 then", "'LT', unpack(places)) == '' then"),
        "wakes::every_transition",
    ),
    (("lib/pick_rarely.lua", "ARGV[3]) or is_let_in", "ARGV[3]) and is_let_in"), "wakes::every_transition"),
    (
        ("reserve_job.lua", "undo_call(ARGV[2], ARGV[3]) then wake(now) end", "undo_call(ARGV[2], ARGV[3]) then end"),
        "wakes::every_transition",
    ),
    (("repair.lua", "or has_mended then", "then"), "wakes::every_transition"),
];
