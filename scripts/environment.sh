#!/usr/bin/env bash
# environment: a machine that is not like ours. The sentences of setup where it cannot install; then build, demo and the suites of the core, the
# PHP surface and the package for a user without name, home and network, with other settings of everything that a test may depend on.
# Needs root, for that user and his namespaces. ENVIRONMENT_DIR (target/environment) keeps his target folder for the next time.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/debian.sh
source "$root/scripts/debian.sh"

[ "$(id -u)" -eq 0 ] || die "'environment' makes a user and namespaces: run it as root"
"$root/build.sh" setup
install_packages locales iproute2 util-linux
find_php
folder=$(realpath -m "${ENVIRONMENT_DIR:-$target_dir/environment}")
user=64987
mkdir -p "$folder"
[ "${#folder}" -lt 60 ] || die "$folder has a long path: set ENVIRONMENT_DIR to a folder with a short one"

# A copy of the work tree that belongs to nobody in /etc/passwd; his target folder stays.
mkdir -p "$folder/tree"
find "$folder/tree" -mindepth 1 -maxdepth 1 ! -name target -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- --file=- | tar -x -C "$folder/tree"
# His cargo, with the crates: he has no network to get them.
mkdir -p "$folder/cargo" "$folder/rust" "$target_dir"
[ -d "$folder/cargo/registry" ] || cp -a "${CARGO_HOME:-$HOME/.cargo}/registry" "$folder/cargo/"
CARGO_HOME=$folder/cargo cargo fetch --locked --quiet
# Turkish: the lower case of I is no i. The file is enough for the C library.
mkdir -p "$folder/locale"
[ -d "$folder/locale/tr_TR.UTF-8" ] || localedef --no-archive -i tr_TR -f UTF-8 "$folder/locale/tr_TR.UTF-8"
# Debian's xdebug without installing it: the other extensions of this machine's PHP are loaded anyway.
series=$("$PHP_CONFIG" --version | cut -d. -f1-2)
if [ ! -d "$folder/xdebug" ]; then
  (cd "$folder" && apt-get -q -o APT::Sandbox::User= download "php$series-xdebug" && dpkg -x php"$series"-xdebug_*.deb "$folder/xdebug") ||
    die "no php$series-xdebug: check the network and /etc/apt/sources.list"
fi
rm -rf "$folder/conf.d"
cp -rL "/etc/php/$series/cli/conf.d" "$folder/conf.d"
printf 'zend_extension=%s\n' "$(find "$folder/xdebug" -name xdebug.so)" >"$folder/conf.d/20-xdebug.ini"
long=$folder/$(printf 'a-rather-long-name-%.0s' 1 2 3 4 5 6)
mkdir -p "$long"
chown -R "$user:$user" "$folder/tree" "$folder/cargo" "$long"
chmod 755 "$folder"

passed=0 failed=()
# check SENTENCE COMMAND …
check() {
  local started=$SECONDS
  say "$1"
  if "${@:2}"; then
    passed=$((passed + 1))
    report+=("passed $((SECONDS - started)) s  $1")
  else
    failed+=("$1")
    report+=("FAILED $((SECONDS - started)) s  $1")
  fi
}
report=()

# as_user COMMAND …: in the work tree of the user, without the variables of this one; his PATH begins with $folder/bin.
as_user() {
  setpriv --reuid="$user" --regid="$user" --clear-groups --no-new-privs env --chdir="$folder/tree" -i PATH="$folder/bin:/usr/bin:/bin:/usr/sbin" HOME=/nonexistent "$@"
}

# says PATTERN EXIT_CODE COMMAND …
says() {
  local status=0 answer
  answer=$("${@:3}" 2>&1) || status=$?
  echo "$answer" | tail -n 5
  [ "$status" -eq "$2" ] && grep -qE -- "$1" <<<"$answer"
}

# Programs before all others in the user's PATH.
program() {
  mkdir -p "$folder/bin"
  printf '#!/bin/sh\n%s\n' "$2" >"$folder/bin/$1"
  chmod 755 "$folder/bin/$1"
}

rm -rf "${folder:?}/bin"
check "without Rust, setup says where it is to be had" says 'install Rust 1\.[0-9]+ or newer \(https://rustup\.rs\)' 1 as_user ./build.sh setup
program cargo 'echo "cargo 1.88.0"'
if [ ! -x /usr/bin/sudo ]; then
  check "without root and sudo, setup names the packages that are missing" \
    says 'not root and no sudo: as root, run apt-get install .*php9\.9-cli.*php9\.9-redis' 1 as_user PHP_SERIES=9.9 ./build.sh setup
fi
program sudo 'exit 1'
check "where sudo refuses, setup names the packages that are missing" \
  says 'sudo refuses: as root, run apt-get install .*php9\.9-cli' 1 as_user PHP_SERIES=9.9 ./build.sh setup
program sudo 'echo "as root: $*"'
check "with sudo, setup installs them by it" \
  says 'as root: env RUNLEVEL=1 .*apt-get install .*php9\.9-cli' 0 as_user PHP_SERIES=9.9 ./build.sh setup
rm -rf "${folder:?}/bin"

# In a fresh Debian, for a user who may use sudo: real packages.
sets_up_with_sudo() {
  local fresh=$folder/fresh
  make_debian "$folder/debian" bookworm sudo gcc libc6-dev
  rm -rf --one-file-system "$fresh"
  cp -a "$folder/debian" "$fresh"
  printf '#!/bin/sh\necho "cargo 1.88.0"\n' >"$fresh/usr/bin/cargo"
  chmod 755 "$fresh/usr/bin/cargo"
  chroot "$fresh" useradd --create-home dev
  printf 'dev ALL=(ALL) NOPASSWD: ALL\n' >"$fresh/etc/sudoers.d/dev"
  in_debian "$fresh" "$target_dir" runuser -u dev -- ./build.sh setup && has_packages "$fresh" php8.2-dev redis-server phpunit
}
check "in a fresh Debian, setup installs all packages by sudo" sets_up_with_sudo

# A machine that was started ten seconds ago, with no network but its own loopback. The user's shell runs "$1".
in_hostile_place() {
  local uptime
  uptime=$(cut -d. -f1 /proc/uptime)
  # shellcheck disable=SC2016
  unshare --mount --net --time --fork --boottime "-$((uptime - 10))" --monotonic "-$((uptime - 10))" sh -euc '
    ip link set lo up
    mount --bind "$1/conf.d" "/etc/php/$2/cli/conf.d"
    mount --bind "$3" "$1/rust"
    exec setpriv --reuid="$4" --regid="$4" --clear-groups env --chdir="$1/tree" -i PATH="$1/rust/bin:/usr/bin:/bin:/usr/sbin" HOME=/nonexistent \
      CARGO_HOME="$1/cargo" CARGO_NET_OFFLINE=true LC_ALL=tr_TR.UTF-8 LOCPATH="$1/locale" TZ=Asia/Kolkata TMPDIR="$5" \
      nice -n 5 bash -euo pipefail -c "umask 077; $6"
  ' sh "$folder" "$series" "$(rustc --print sysroot)" "$user" "$long" "$1"
}

suites='source scripts/common.sh; source scripts/suites.sh; find_php;'
check "the machine is as it is meant to be" in_hostile_place \
  'id; date; locale; php -m | tr "\n" " "; cut -d. -f1 /proc/uptime; ip -brief address; [ "$(cut -d. -f1 /proc/uptime)" -lt 60 ] && php -m | grep -x xdebug >/dev/null'
check "build" in_hostile_place './build.sh build'
check "build once more, over what is there" in_hostile_place './build.sh build'
check "demo" in_hostile_place './build.sh demo'
check "the core (cargo test)" in_hostile_place "$suites suite core test_core -- --skip mutants; account core"
check "the PHP surface (phpt)" in_hostile_place "$suites suite surface test_surface; account surface"
check "the PHP surface beside opcache, phpredis and xdebug" in_hostile_place \
  "$suites suite beside test_surface -d zend_extension=opcache -d opcache.enable_cli=1 -d extension=igbinary -d extension=redis \
    -d zend_extension=$(find "$folder/xdebug" -name xdebug.so) -j2 tests/phpt; account beside"
check "the PHP surface without a locale" in_hostile_place "unset LC_ALL LOCPATH; $suites suite nowhere test_surface; account nowhere"
check "the PHP package (PHPUnit)" in_hostile_place "$suites suite package test_phpunit phpunit.xml.dist --exclude-group verify; account package"
check "processes" in_hostile_place "$suites suite processes test_script tests/run-php.sh \"\$extension\"; account processes"

say "environment:"
printf '%s\n' "${report[@]}"
[ "${#failed[@]}" -eq 0 ] || die "failed: $(printf '%s; ' "${failed[@]}")the messages are above"
say "environment: $passed passed, 0 failed"
