# shellcheck shell=bash
# What the verbs share: how they speak, which tools they use, where the built extension is. Sourced, never run.

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

# Makes every PHP started from here load the built extension, whatever is installed:
# a copy of the list of ini files of this PHP, less an installed delayqueue, plus our own line.
use_built_extension() {
  local scan ini php_ini=$target_dir/php.d
  scan=$(PHP_INI_SCAN_DIR='' "$PHP" -n -r 'echo PHP_CONFIG_FILE_SCAN_DIR;')
  rm -rf "$php_ini"
  mkdir -p "$php_ini"
  if [ -n "$scan" ] && [ -d "$scan" ]; then
    for ini in "$scan"/*.ini; do
      case "$ini" in *delayqueue.ini | *'*.ini') ;; *) ln -s "$ini" "$php_ini/" ;; esac
    done
  fi
  printf 'extension=%s\n' "$extension" >"$php_ini/99-delayqueue.ini"
  export PHP_INI_SCAN_DIR=$php_ini
}
