//! Tells the source which PHP it is built for (`cfg(php83)`, `cfg(php84)`, …), and phpinfo() what built it.

use std::env::{var, var_os};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DELAYQUEUE_COMMIT");
    // Only who packages names the commit: a build that looked for it would be a new one after every commit.
    let commit = var("DELAYQUEUE_COMMIT").ok().filter(|commit| !commit.is_empty());
    println!("cargo:rustc-env=DELAYQUEUE_COMMIT={}", commit.as_deref().unwrap_or("not recorded"));
    println!("cargo:rustc-env=DELAYQUEUE_RUSTC={}", rustc_version().as_deref().unwrap_or("unknown"));
    #[cfg(feature = "php")]
    if let Err(error) = php() {
        println!("cargo::error={error}; set PHP to the command line of the PHP to build for");
    }
}

/// As in `1.88.0`.
fn rustc_version() -> Option<String> {
    let output = Command::new(var_os("RUSTC")?).arg("--version").output().ok()?;
    String::from_utf8(output.stdout).ok()?.split(' ').nth(1).map(str::to_owned)
}

#[cfg(feature = "php")]
fn php() -> Result<(), Box<dyn std::error::Error>> {
    use ext_php_rs_build::{
        ApiVersion, PHPInfo, emit_check_cfg, emit_php_cfg_flags, emit_rerun_if_env_changed, find_php,
    };

    emit_check_cfg();
    emit_rerun_if_env_changed();
    let version = PHPInfo::get(&find_php()?)?.zend_version()?;
    emit_php_cfg_flags(ApiVersion::try_from(version)?);
    Ok(())
}
