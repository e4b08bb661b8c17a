//! Makes the declarations of the extension's classes from the stub, and tells phpinfo() what built the extension.

use std::env::{var, var_os};
use std::ffi::OsString;
use std::process::{Command, exit};

const STUB: &str = "stubs/delayqueue.stub.php";
const READER: &str = "src/php/stub.php";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DELAYQUEUE_COMMIT");
    // Only who packages names the commit: a build that looked for it would be a new one after every commit.
    let commit = var("DELAYQUEUE_COMMIT").ok().filter(|commit| !commit.is_empty());
    println!("cargo:rustc-env=DELAYQUEUE_COMMIT={}", commit.as_deref().unwrap_or("not recorded"));
    println!("cargo:rustc-env=DELAYQUEUE_RUSTC={}", rustc_version().as_deref().unwrap_or("unknown"));
    if var_os("CARGO_FEATURE_PHP").is_some() {
        read_stub();
    }
}

/// As in `1.88.0`.
fn rustc_version() -> Option<String> {
    let output = Command::new(var_os("RUSTC")?).arg("--version").output().ok()?;
    String::from_utf8(output.stdout).ok()?.split(' ').nth(1).map(str::to_owned)
}

/// Reads the stub by Reflection, with the PHP that is built for. Its ini files stay out: they may load an older delayqueue.
fn read_stub() {
    for file in [STUB, READER] {
        println!("cargo:rerun-if-changed={file}");
    }
    for variable in ["PHP", "PHP_CONFIG"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    let php = php();
    let folder = var_os("OUT_DIR").unwrap_or_default();
    match Command::new(&php).args(["-n", "-d", "display_errors=stderr", READER, STUB]).arg(folder).output() {
        // A later PHP may deprecate what the stub says, and reads it all the same.
        Ok(output) if output.status.success() => say("warning", &String::from_utf8_lossy(&output.stderr)),
        Ok(output) => fail(&format!(
            "{} could not read {STUB}:\n{}{}",
            php.display(),
            String::from_utf8_lossy(&output.stderr),
            String::from_utf8_lossy(&output.stdout)
        )),
        Err(error) => fail(&format!(
            "{} reads {STUB} for the build and does not run: {error}. Install the command line of PHP (php8.2-cli on Debian), or set PHP \
             to the path of the php that the extension is for. The core alone needs none: cargo build --no-default-features",
            php.display()
        )),
    }
}

/// `PHP`, or the one that belongs to `PHP_CONFIG`, or the one that the shell finds.
fn php() -> OsString {
    let of_config = || {
        let output = Command::new(var_os("PHP_CONFIG")?).arg("--php-binary").output().ok()?;
        let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        Some(path).filter(|path| !path.is_empty()).map(OsString::from)
    };
    var_os("PHP").filter(|path| !path.is_empty()).or_else(of_config).unwrap_or_else(|| OsString::from("php"))
}

fn fail(message: &str) -> ! {
    say("error", message);
    exit(1)
}

fn say(kind: &str, message: &str) {
    for line in message.lines() {
        println!("cargo::{kind}={line}");
    }
}
