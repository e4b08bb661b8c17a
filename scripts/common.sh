# shellcheck shell=bash
# Functions that the verbs share: how they speak, which tools they use, where the built extension is. Sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root" || exit

say() { printf '==> %s\n' "$*"; }

# Says what is wrong and what cures it, and ends the verb.
die() {
  printf 'build.sh: %s\n' "$*" >&2
  exit 1
}

target_dir=${CARGO_TARGET_DIR:-$root/target}
case "$target_dir" in /*) ;; *) target_dir=$root/$target_dir ;; esac
extension=$target_dir/release/libdelayqueue.so

# Prints this processor as the files of a release and PIE name it.
processor() {
  local name
  name=$(uname -m)
  echo "${name/aarch64/arm64}"
}

# Sets and exports PHP_CONFIG and PHP as absolute paths; the Rust build reads both.
find_php() {
  local config
  config=$(command -v "${PHP_CONFIG:-php-config}") ||
    die "no ${PHP_CONFIG:-php-config} here: run ./build.sh setup, or set PHP_CONFIG to the php-config of your PHP"
  PHP_CONFIG=$(realpath -s "$config")
  PHP=$(command -v "${PHP:-$("$PHP_CONFIG" --php-binary)}") ||
    die "no PHP command line beside $PHP_CONFIG: run ./build.sh setup, or set PHP to its path"
  export PHP_CONFIG PHP
}

# Prints what a build is bound to: cargo sees when PHP_CONFIG is another file, and not when that file is of another PHP.
php_api() { printf '%s-%s\n' "$("$PHP_CONFIG" --version)" "$("$PHP_CONFIG" --phpapi)"; }

# Prints delayqueue.ini. It has the same bytes wherever it is installed: apt asks what to do with an ini file that is not that of its package.
print_ini() { printf '; configuration for the delayqueue module\n; priority=20\nextension=delayqueue.so\n'; }

# Makes every PHP started from here load the built extension, whatever is installed:
# a copy of the list of ini files of this PHP, less an installed delayqueue, plus our own line.
# A copy that is right stays untouched, because suites that run side by side share it.
use_built_extension() {
  local scan ini php_ini=$target_dir/php.d made=$target_dir/php.d.$BASHPID
  scan=$(PHP_INI_SCAN_DIR='' "$PHP" -n -r 'echo PHP_CONFIG_FILE_SCAN_DIR;')
  rm -rf "$made"
  mkdir -p "$made"
  if [ -n "$scan" ] && [ -d "$scan" ]; then
    for ini in "$scan"/*.ini; do
      case "$ini" in *delayqueue.ini | *'*.ini') ;; *) ln -s "$ini" "$made/" ;; esac
    done
  fi
  printf 'extension=%s\n' "$extension" >"$made/99-delayqueue.ini"
  if diff --recursive --no-dereference "$made" "$php_ini" >/dev/null 2>&1; then
    rm -rf "$made"
  else
    rm -rf "$php_ini"
    mv "$made" "$php_ini"
  fi
  export PHP_INI_SCAN_DIR=$php_ini
}

# Sets $strict: the options with which PHPUnit fails on anything but a pass, and leaves no file behind.
find_strict_options() {
  local known
  known=$("$PHP" "$1" --help)
  case $known in
    *--fail-on-all-issues*) strict=(--fail-on-all-issues) ;;
    *) strict=(--fail-on-skipped --fail-on-incomplete --fail-on-risky --fail-on-warning --prepend "$root/tests/errors-as-exceptions.php") ;; # PHPUnit 9
  esac
  case $known in
    *--do-not-record-test-run-history*) strict+=(--do-not-record-test-run-history) ;; # PHPUnit 13
    *) strict+=(--do-not-cache-result) ;;
  esac
}

# Prints the packages of this list that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    # No pipe: one whose reader has heard enough ends dpkg by a signal, and pipefail would take that for a package that is missing.
    [ "$(dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null)" = "install ok installed" ] || printf '%s\n' "$package"
  done
}

# Brings Debian packages, if they are missing; says which, and ends the verb if it cannot.
install_packages() {
  local missing=() as_root=() cure
  mapfile -t missing < <(missing_packages "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0
  cure="as root, run apt-get install ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "not root and no sudo: $cure"
    as_root=(sudo)
    # Before apt-get, whose failures have other causes.
    sudo true || die "sudo refuses: $cure"
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q || die "apt-get update failed: check the network and /etc/apt/sources.list, or $cure"
  # A fresh machine often installs its own upgrades at the same time: wait for it.
  # The packages start no Redis, PostgreSQL and php-fpm of their own, because nothing here needs them running: RUNLEVEL=1 tells init scripts,
  # SYSTEMD_OFFLINE=1 tells systemctl.
  "${as_root[@]}" env RUNLEVEL=1 SYSTEMD_OFFLINE=1 DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}" ||
    die "apt-get could not install ${missing[*]}: read its message above, then run this again"
}
