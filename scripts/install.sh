#!/usr/bin/env bash
# install: delayqueue.so into PHP's extension folder; the ini where Debian's PHP wants it, or the line to add elsewhere.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# For this PHP, and newer than all that it is made of.
is_built() {
  [ -f "$extension" ] && [ "$(cat "$target_dir/php-api" 2>/dev/null)" = "$(php_api)" ] &&
    [ -z "$(find Cargo.toml Cargo.lock build.rs src lua -type f -not -name "*.md" -newer "$extension" -print -quit)" ]
}

find_php
if ! is_built; then
  command -v cargo >/dev/null ||
    die "$extension is missing, older than its source, or of another PHP, and there is no cargo here: first run ./build.sh build as a user who has one"
  "$root/build.sh" build
fi

install_root=${INSTALL_ROOT:-}
extension_dir=$install_root$("$PHP_CONFIG" --extension-dir)
mods_available=/etc/php/$("$PHP_CONFIG" --version | cut -d. -f1-2)/mods-available

install -D -m 644 "$extension" "$extension_dir/delayqueue.so" ||
  die "cannot write $extension_dir: run as root, or set INSTALL_ROOT to a folder of yours"
say "installed $extension_dir/delayqueue.so"

if [ -d "$mods_available" ] && command -v phpenmod >/dev/null; then
  install -d "$install_root$mods_available"
  print_ini >"$install_root$mods_available/delayqueue.ini" ||
    die "cannot write $install_root$mods_available: run as root, or set INSTALL_ROOT to a folder of yours"
  say "installed $install_root$mods_available/delayqueue.ini"
  if [ -n "$install_root" ]; then
    say "once $install_root is unpacked on its machine, run there: phpenmod delayqueue"
  else
    phpenmod -v "$(basename "$(dirname "$mods_available")")" delayqueue
    "$PHP" --ri delayqueue >/dev/null || die "installed, but $PHP does not load it: see the message above"
    say "enabled for every PHP of that version; restart php-fpm to load it there"
  fi
else
  say "add this line to php.ini, or to a file in $("$PHP" -r 'echo PHP_CONFIG_FILE_SCAN_DIR ?: "the folder that php --ini names";'):"
  printf 'extension=delayqueue\n'
fi
