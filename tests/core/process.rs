//! Servers that end with the test run.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Starts a process that does not outlive a test run that is killed.
pub fn start(mut command: Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: prctl is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    // The signal comes when the *thread* that spawned it ends: use one that stays.
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        sender.send(command.spawn()).unwrap();
        loop {
            std::thread::park();
        }
    });
    receiver.recv().unwrap().expect("redis-server is installed, or REDIS_SERVER is the path of one")
}
