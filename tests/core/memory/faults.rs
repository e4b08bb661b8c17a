//! What goes wrong in a store, and what is left of it then.

use crate::support::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::error::Error;
use delayqueue::core::memory::{self, Stream};
use delayqueue::core::queue::Queue;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

pub fn queue_in(dsn: &str, name: &str) -> Queue {
    Queue::new(config(Dsn::parse(dsn).unwrap(), name))
}

pub fn raw(dsn: &str) -> Raw {
    Raw::open(&Dsn::parse(dsn).unwrap())
}

#[test]
fn stores_of_other_names_have_other_jobs_and_objects_of_one_name_share_theirs() {
    let (one, same, other) =
        (queue_in("memory://shop", "q"), queue_in("memory://shop", "q"), queue_in("memory://blog", "q"));
    one.push(&job("a")).unwrap();
    assert_eq!(states(&other), [0; 4]);
    let held = reserve(&same).unwrap();
    one.ack(&held.held()).unwrap();
    assert_eq!((states(&same), one.stats().unwrap().acked), ([0; 4], 1));
}

#[test]
fn a_store_that_is_forgotten_is_empty_for_objects_that_are_there() {
    let queue = queue_in("memory://forgotten", "q");
    queue.push(&job("a")).unwrap();
    memory::forget("forgotten").unwrap();
    assert_eq!((states(&queue), queue.queues().unwrap()), ([0; 4], Vec::<String>::new()));
    queue.push(&job("a")).unwrap();
    assert_eq!(queue.queues().unwrap(), ["q"], "it is in the index again at once");
}

#[test]
fn a_panic_inside_a_command_leaves_a_store_that_answers_errors_until_it_is_forgotten() {
    for command in [&["DEBUG", "PANIC"][..], &["EVAL", "return pcall(redis.call, 'DEBUG', 'PANIC')", "0"]] {
        let queue = queue_in("memory://panic", "q");
        queue.push(&job("a")).unwrap();
        let told = format!("{:?}", raw("memory://panic").run(command));
        assert!(told.contains("the store has failed"), "{told}");
        let error = queue.push(&job("b")).unwrap_err();
        assert!(error.to_string().contains("DelayQueue\\Testing::forgetMemory() makes it new"), "{error}");
        assert!(!error.is_retryable());
        memory::forget("panic").unwrap();
        assert_eq!(states(&queue), [0; 4]);
        queue.push(&job("c")).unwrap();
        assert_eq!(serve_all(&queue), ["c"]);
    }
}

#[test]
fn a_full_store_refuses_a_push_and_lets_workers_go_on() {
    let queue = queue_in("memory://full?maxmemory=64kb", "q");
    let error =
        (0..2_000).find_map(|n| queue.push(&job(&format!("job {n}"))).err()).expect("64 kB are full at some time");
    assert!(matches!(error, Error::QueueFull { code: "OOM", .. }), "{error}");
    let before = states(&queue)[1].max(states(&queue)[0]);
    assert!((100..2_000).contains(&before), "{before}");
    assert_eq!(serve_all(&queue).len() as u64, before);
    queue.push(&job("afterwards")).unwrap();
}

#[test]
fn a_script_that_takes_all_memory_of_lua_ends_with_an_error_and_the_store_goes_on() {
    let mut raw = raw("memory://greedy");
    let told =
        format!("{:?}", raw.run(&["EVAL", "local t = {} for n = 1, 1e9 do t[n] = string.rep('x', 1e6) .. n end", "0"]));
    assert!(told.contains("memory"), "{told}");
    let half = ["EVAL", "local t = {} for n = 1, 100 do t[n] = string.rep('x', 1e6) .. n end return #t", "0"];
    assert_eq!(raw.int(&half), 100, "the memory is there again");
}

#[test]
fn a_script_that_does_not_end_is_ended_as_busy_although_it_catches_its_errors() {
    let mut raw = raw("memory://busy");
    let began = Instant::now();
    let told = format!("{:?}", raw.run(&["EVAL", "while true do pcall(function() while true do end end) end", "0"]));
    assert!(told.contains("BUSY"), "{told}");
    assert!(began.elapsed() >= Duration::from_secs(5));
    assert_eq!(raw.int(&["EVAL", "local n = 0 for i = 1, 3e6 do n = n + 1 end return n", "0"]), 3_000_000);
}

#[test]
fn errors_of_scripts_are_those_of_redis() {
    let server = Server::start(&[]);
    let (mut redis, mut memory) = (server.raw(), raw("memory://errors"));
    for script in [
        "return 1 +",
        "local x\nreturn x.y",
        "redis.call('SET', 'a', 'b')\nreturn redis.call('HGET', 'a', 'b')",
        "return redis.pcall('HGET', KEYS[1])",
        "return redis.call({})",
        "return redis.error_reply('MY own')",
        "return { err = 'OTHER own' }",
        "return { 1, 2, nil, 4 }",
        "return { true, false, 'a', 1.9, -1.9, { 'b', { ok = 'OK' } } }",
        "return struct.pack('>BI2I4I8', 255, 65535, 4294967295, 2^53)",
        "return { struct.unpack('>I8', struct.pack('>I8', 2^53 - 1)) }",
        "return struct.pack('>I2I4', 1.9, '7')",
        "return string.format('%d', 1800000000000123)",
        "return tostring(1800000000000123) .. ' ' .. 2^53",
    ] {
        let command = ["EVAL", script, "1", "key"];
        let (wanted, found) = (redis.run(&command), memory.run(&command));
        assert_eq!(format!("{found:?}"), format!("{wanted:?}"), "{script}");
    }
}

#[test]
fn what_is_no_command_is_answered_with_an_error() {
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"*1\r\n+PING\r\n",
        b"*x\r\n",
        b"*1\r\n$99999999999999999999\r\n",
        b"*1\r\n$4\r\nPINGxx",
        b"*-1\r\n",
    ] {
        let mut stream = Stream::open("protocol", None).unwrap();
        stream.write_all(bytes).unwrap();
        let mut room = [0; 200];
        let many = stream.read(&mut room).unwrap();
        assert!(room[..many].starts_with(b"-ERR Protocol error"), "{:?}", String::from_utf8_lossy(&room[..many]));
    }
    let mut stream = Stream::open("protocol", None).unwrap();
    for byte in b"*1\r\n$4\r\nPING\r\n*0\r\n" {
        stream.write_all(&[*byte]).unwrap();
    }
    let mut room = [0; 200];
    let many = stream.read(&mut room).unwrap();
    assert!(room[..many].starts_with(b"+PONG\r\n"), "{:?}", String::from_utf8_lossy(&room[..many]));
}

#[test]
fn a_child_that_uses_the_store_of_its_parent_is_told_and_one_of_its_own_works() {
    let queue = queue_in("memory://parent", "q");
    queue.push(&job("a")).unwrap();
    // SAFETY: the child only uses queues, and leaves without running anything of the parent's.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let refused = queue.push(&job("b"));
        let is_told = matches!(&refused, Err(Error::Connection { message, .. }) if message.contains("the process that forked this one"));
        let own = queue_in("memory://child", "q");
        let works = own.push(&job("c")).is_ok() && reserve(&own).is_some();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!is_told) + 2 * i32::from(!works)) };
    }
    let mut status = 0;
    // SAFETY: a child of ours.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!(libc::WEXITSTATUS(status), 0);
    assert_eq!(serve_all(&queue), ["a"]);
}
