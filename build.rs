//! Tells phpinfo() what built the extension.

use std::env::{var, var_os};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DELAYQUEUE_COMMIT");
    // Only who packages names the commit: a build that looked for it would be a new one after every commit.
    let commit = var("DELAYQUEUE_COMMIT").ok().filter(|commit| !commit.is_empty());
    println!("cargo:rustc-env=DELAYQUEUE_COMMIT={}", commit.as_deref().unwrap_or("not recorded"));
    println!("cargo:rustc-env=DELAYQUEUE_RUSTC={}", rustc_version().as_deref().unwrap_or("unknown"));
}

/// As in `1.88.0`.
fn rustc_version() -> Option<String> {
    let output = Command::new(var_os("RUSTC")?).arg("--version").output().ok()?;
    String::from_utf8(output.stdout).ok()?.split(' ').nth(1).map(str::to_owned)
}
