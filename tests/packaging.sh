#!/usr/bin/env bash
# Tests the files that ./build.sh dist has made for PHP 8.2, 8.4 and 8.5, and the way through phpize.
# usage: tests/packaging.sh FOLDER; the last line counts. Makes a Debian of each release in target/matrix the first time.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
# shellcheck source=scripts/debian.sh
source "$root/scripts/debian.sh"
# shellcheck source=scripts/library.sh
source "$root/scripts/library.sh"

[ $# -eq 1 ] || die "usage: tests/packaging.sh FOLDER"
dist_dir=$(realpath "$1")
find_php
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
work=$(mktemp -d)
passed=0 failed=0
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

trap 'rm -rf "$work"' EXIT

# check SENTENCE COMMAND …: every line of a test must succeed. Inside a condition bash would go on after one that fails.
check() {
  local status
  set +e
  (set -e && "${@:2}") >"$work/output" 2>&1
  status=$?
  set -e
  if [ "$status" -eq 0 ]; then
    passed=$((passed + 1))
    echo "PASS $1"
  else
    failed=$((failed + 1))
    echo "FAIL $1"
    sed 's/^/     /' "$work/output" | tail -n 40
  fi
}

checksums_hold() {
  cd "$dist_dir"
  sha256sum --check --strict SHA256SUMS
  [ "$(wc -l <SHA256SUMS)" -eq "$(find . -type f ! -name SHA256SUMS | wc -l)" ]
}

tarball_is_complete() {
  local file
  for file in delayqueue.so delayqueue.ini delayqueue.stub.php LICENSE THIRD-PARTY-LICENSES install.md README CHANGELOG.md; do
    [ -s "$unpacked/$file" ] || { echo "no $file"; return 1; }
  done
  cmp stubs/delayqueue.stub.php "$unpacked/delayqueue.stub.php"
  cmp docs/install.md "$unpacked/install.md"
  grep "needs glibc $(glibc_floor) or newer" "$unpacked/README"
}

glibc_floor() { objdump -T "$unpacked/delayqueue.so" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | cut -d_ -f2; }

# No path of a home, a source tree or a temporary folder.
library_tells_no_paths() { ! strings "$unpacked/delayqueue.so" | grep -E '/(home|root|work|tmp|Users|runner)/|\.cargo/|\.rustup/'; }

library_is_small_and_stripped() {
  [ "$(stat -c %s "$unpacked/delayqueue.so")" -lt "$max_bytes" ]
  ! readelf -SW "$unpacked/delayqueue.so" | grep -E '\.(symtab|debug)'
}

library_needs_no_newer_glibc() { [ "$(printf '%s\n2.34\n' "$(glibc_floor)" | sort -V | tail -n 1)" = 2.34 ]; }

library_tells_what_it_is() {
  local line
  "$PHP" -n -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;' | grep -x "$series" >/dev/null ||
    { system=$matrix_dir/$debian && use_php "$series"; }
  "$PHP" -n -d "extension=$unpacked/delayqueue.so" --ri delayqueue | tee "$work/ri"
  for line in "Version => $version" 'Commit => [0-9a-f]{7,}(-dirty)?' 'Rust => [0-9]+\.[0-9]+\.[0-9]+' 'TLS => rustls.*' 'Servers tested => Redis .*'; do
    grep -Eqx "$line" "$work/ri" || { echo "no line $line"; return 1; }
  done
}

# The crates are those that cargo links, and those whose files the library itself names in its messages.
licences_are_those_of_all_crates() {
  local crate licences=$unpacked/THIRD-PARTY-LICENSES
  cargo tree --locked --edges normal,no-proc-macro --prefix none --no-dedupe --format '{p}' | sed -n 's/^\(\S*\) v\(\S*\)$/\1 \2/p' | sort -u >"$work/crates"
  strings "$unpacked/delayqueue.so" | grep -o 'registry/src/[^/]*/[^/]*/' | sed 's|.*/\(.*\)-\([0-9]*\.[0-9]*\..*\)/$|\1 \2|' | sort -u >"$work/named"
  [ "$(wc -l <"$work/crates")" -gt 50 ] && [ "$(wc -l <"$work/named")" -gt 20 ] || { echo "too few crates"; return 1; }
  while IFS= read -r crate; do
    grep "^$crate, " "$licences" >/dev/null || { echo "$crate is not named"; return 1; }
    grep -x "$crate" "$licences" >/dev/null || { echo "$crate has no text"; return 1; }
  done < <(cat "$work/crates" "$work/named")
  grep -x 'the standard library of Rust' "$licences"
  dpkg --fsys-tarfile "$deb" | tar --extract --to-stdout "./usr/share/doc/php$series-delayqueue/THIRD-PARTY-LICENSES.gz" | gunzip | cmp - "$licences"
}

in_system() { "${as_root[@]}" chroot "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"; }

# printed_lines HEADING FILE [NUMBER]: the lines of that sample for a shell under that heading; without a number of the first.
printed_lines() {
  awk -v heading="## $1" -v number="${3:-1}" '/^## / { here = $0 == heading } /^```$/ && sample { exit } sample; here && /^```sh$/ { sample = ++seen == number }' "$2"
}

# loads SERIES: the command line and php-fpm of the folder, and with the library of the tarball.
loads() {
  in_system php --ri delayqueue
  in_system "php-fpm$1" -m | grep -x delayqueue
  cmp "$system"/usr/lib/php/*/delayqueue.so "$unpacked/delayqueue.so"
}

is_gone() {
  in_system php -m >"$work/modules"
  in_system "php-fpm$1" -m >>"$work/modules"
  if grep -x delayqueue "$work/modules"; then return 1; fi
  [ -z "$(find "$system/etc/php" "$system/usr/lib/php" -name '*delayqueue*')$(compgen -G "$system/delayqueue*")" ]
}

tarball_installs() {
  in_system sh -euc "cd /tmp/tarball && $(printed_lines Tarball "$unpacked/install.md")"
  loads "$1"
}

tarball_copies_nothing_without_php() {
  in_system sh -c "cd /tmp/tarball && php() { :; } && phpenmod() { :; } && $(printed_lines Tarball "$unpacked/install.md")" || true
  is_gone "$1"
}

tarball_is_removed() {
  in_system sh -euc "$(printed_lines Tarball "$unpacked/install.md" 2)"
  is_gone "$1"
  has_no_trace
}

# Not even a mark of phpdismod, which would keep a package that comes later from enabling it.
has_no_trace() { [ -z "$(find "$system"/{etc,usr/lib,var/lib}/php -name '*delayqueue*')" ]; }

# Files that an earlier run has left.
clean_system() {
  in_system dpkg --purge "php$1-delayqueue" >/dev/null 2>&1 || true
  "${as_root[@]}" find "$system"/{etc,usr/lib,var/lib}/php -name '*delayqueue*' -delete
  "${as_root[@]}" rm -f "$system"/delayqueue.*
}

# As on a machine where it was built: there the library is newer than its source.
uninstall_leaves_nothing() {
  local build=(in_debian "$system" "$work" env CARGO_TARGET_DIR="$work/built" ./build.sh)
  mkdir -p "$work/built/release"
  cp "$unpacked/delayqueue.so" "$work/built/release/libdelayqueue.so"
  in_system sh -c 'php-config --version; php-config --phpapi' | paste -sd- >"$work/built/php-api"
  "${build[@]}" install
  loads "$1"
  "${build[@]}" uninstall
  is_gone "$1"
  has_no_trace
}

deb_installs() {
  "${as_root[@]}" cp "$deb" "$system/tmp/delayqueue.deb"
  in_system apt-get install -y --no-install-recommends /tmp/delayqueue.deb
  loads "$1"
}

# The socket lies in the folder: that needs no port, and no mount.
serves_a_job() {
  local redis answer code='
    for ($tries = 0; !file_exists("/run/delayqueue.sock") && $tries < 1000; ++$tries) { usleep(10000); }
    $queue = new DelayQueue("orders", "redis+unix:///run/delayqueue.sock");
    $queue->push(["order" => 4711], delay: "10ms");
    $job = $queue->reserve(timeout: 5);
    $job->ack();
    echo json_encode($job->payload);'
  "${as_root[@]}" rm -f "$system/run/delayqueue.sock"
  "${as_root[@]}" "${REDIS_SERVER:-redis-server}" --port 0 --unixsocket "$system/run/delayqueue.sock" --dir "$work" --save '' >/dev/null &
  redis=$!
  answer=$(in_system php -r "$code") || true
  "${as_root[@]}" kill "$redis"
  wait "$redis" || true
  echo "$answer"
  [ "$answer" = '{"order":4711}' ]
}

deb_is_purged() {
  in_system apt-get purge -y "php$1-delayqueue"
  is_gone "$1"
}

has_no_rust() { [ ! -e "$system/usr/bin/cargo" ] && [ ! -e "$system/usr/bin/rustc" ] && ! compgen -G "$system/*/.cargo" >/dev/null; }

test_release() {
  local series=$1 debian=$2
  shift 2
  platform=php$series-$(processor)-linux-glibc
  name=delayqueue-$version-$platform
  deb=$dist_dir/php$series-delayqueue_$version-1_$(dpkg --print-architecture).deb
  tar -xzf "$dist_dir/$name.tar.gz" -C "$work" || die "no tarball for PHP $series: run ./build.sh dist for it"
  unpacked=$work/$name
  check "the tarball for PHP $series has library, ini, stub, licence, and says which glibc it needs" tarball_is_complete
  check "the library for PHP $series tells no path of the machine that built it" library_tells_no_paths
  check "the library for PHP $series has fewer than $max_bytes bytes and no symbols" library_is_small_and_stripped
  check "the library for PHP $series needs no newer glibc than 2.34" library_needs_no_newer_glibc
  check "php --ri tells version, commit, Rust, TLS and servers for PHP $series" library_tells_what_it_is
  check "PIE finds the zip for PHP $series by its name, and composer.json keeps its rules" "$PHP" tests/packaging/pie.php "$dist_dir" "$platform" "$unpacked"
  check "the files for PHP $series have the licence of every crate in the library" licences_are_those_of_all_crates
  check "lintian has no word against the package for PHP $series" lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$deb"
  make_system "$debian" "$@"
  clean_system "$series"
  check "Debian $debian has no Rust" has_no_rust
  "${as_root[@]}" rm -rf "$system/tmp/tarball"
  "${as_root[@]}" cp -r "$unpacked" "$system/tmp/tarball"
  check "the lines of install.md copy nothing in Debian $debian where php prints nothing" tarball_copies_nothing_without_php "$series"
  check "the lines of install.md install the tarball in Debian $debian, and PHP and php-fpm load it" tarball_installs "$series"
  check "the extension of the tarball pushes and reserves a job" serves_a_job
  check "apt installs the package over the tarball without a question" deb_installs "$series"
  clean_system "$series"
  check "the lines of install.md install the tarball once more" tarball_installs "$series"
  check "the lines of install.md remove the tarball without a trace" tarball_is_removed "$series"
  [ "$debian" = bookworm ] || check "build.sh uninstall takes away in Debian $debian what build.sh install has put, without a trace" uninstall_leaves_nothing "$series"
  check "apt installs the package in Debian $debian, and PHP and php-fpm load it" deb_installs "$series"
  check "the installed extension pushes and reserves a job" serves_a_job
  [ "$debian" != bookworm ] || check "the composer.json of php/README.md installs the package, its command line and the stubs" composer_installs_the_packages
  check "apt purges the package and leaves nothing, and php-fpm does without it" deb_is_purged "$series"
  [ "$debian" != bookworm ] || check "without the extension Composer names it and installs nothing" composer_names_what_is_missing
}

source_copy() {
  mkdir "$1"
  git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- --file=- | tar -x -C "$1"
}

phpize_builds_tests_and_installs() {
  local lines
  lines=$(printed_lines 'From the source' docs/install.md)
  mkdir -p "$work/bin" "$work/source/target" "$target_dir/phpize"
  ln -s "${PHP_CONFIG%php-config*}phpize${PHP_CONFIG##*php-config}" "$work/bin/phpize"
  ln -s "$PHP_CONFIG" "$work/bin/php-config"
  # Compiled files stay for the next time.
  ln -s "$target_dir/phpize" "$work/source/target/phpize"
  cd "$work/source"
  PATH=$work/bin:$PATH MAKEFLAGS="INSTALL_ROOT=$work/installed" DELAYQUEUE_COMMIT=c0ffee0 sh -euc "$lines" | tee "$work/lines"
  grep -Ex 'Tests passed *: +[0-9]+ \(100\.0%\).*' "$work/lines"
  "$PHP" -n -d "extension=$work/installed$("$PHP_CONFIG" --extension-dir)/delayqueue.so" --ri delayqueue | tee "$work/ri"
  grep -x 'Commit => c0ffee0' "$work/ri"
}

# In a Debian with phpize and a compiler, but without Rust and libclang.
configure_says_what_is_missing() {
  local status=0
  "${as_root[@]}" rm -rf "$system/tmp/source" "$work/plain"
  source_copy "$work/plain"
  "${as_root[@]}" mv "$work/plain" "$system/tmp/source"
  in_system sh -c 'cd /tmp/source && phpize && ./configure' >"$work/configure" 2>&1 || status=$?
  "${as_root[@]}" rm -rf "$system/tmp/source"
  tail -n 8 "$work/configure"
  [ "$status" -ne 0 ] && grep -q 'Rust 1.88 or newer, with cargo' "$work/configure" && grep -qx '  - make' "$work/configure" && grep -q 'libclang-dev on Debian' "$work/configure"
}

composer_update() { in_system env COMPOSER_HOME=/tmp/composer COMPOSER_ALLOW_SUPERUSER=1 composer --working-dir=/tmp/project update --no-interaction --no-progress; }

# The composer.json that php/README.md shows, without Packagist.
composer_installs_the_packages() {
  "${as_root[@]}" rm -rf "$system"/tmp/{checkout,project,composer}
  source_copy "$work/checkout"
  mkdir "$work/project"
  sed -n '/^```json$/,/^```$/p' php/README.md | sed '/^```/d' >"$work/project/composer.json"
  sed -i "s|/path/to/delayqueue|/tmp/checkout|; s|\"repositories\": \[|&\n        { \"packagist.org\": false },|" "$work/project/composer.json"
  "${as_root[@]}" mv "$work/checkout" "$work/project" "$system/tmp/"
  composer_update
  in_system php -r 'require "/tmp/project/vendor/autoload.php"; exit(class_exists(DelayQueue\Worker\TaskRouter::class) && class_exists("DelayQueue") ? 0 : 1);'
  for file in delayqueue/LICENSE delayqueue-stubs/LICENSE delayqueue-stubs/delayqueue.stub.php delayqueue-stubs/extension.neon; do
    in_system test -s "/tmp/project/vendor/delayqueue/$file" || { echo "no $file"; return 1; }
  done
  in_system php /tmp/project/vendor/bin/delayqueue | tee "$work/commands"
  grep -q '  work ' "$work/commands"
}

composer_names_what_is_missing() {
  "${as_root[@]}" rm -rf "$system"/tmp/project/{vendor,composer.lock}
  if composer_update >"$work/composer" 2>&1; then return 1; fi
  cat "$work/composer"
  grep -F 'requires ext-delayqueue * -> it is missing from your system' "$work/composer"
  [ ! -e "$system/tmp/project/vendor" ]
}

processor_is_named_as_pie_does() {
  uname() { echo aarch64; }
  [ "$(processor)" = arm64 ]
  uname() { echo x86_64; }
  [ "$(processor)" = x86_64 ]
}

uninstall_takes_away_what_install_puts() {
  INSTALL_ROOT=$work/root ./build.sh install
  find "$work/root" -type f | tee "$work/files"
  grep -q '/delayqueue.so$' "$work/files"
  INSTALL_ROOT=$work/root ./build.sh uninstall
  [ -z "$(find "$work/root" -type f)" ]
}

for tool in lintian objdump strings; do
  command -v "$tool" >/dev/null || install_packages lintian binutils
done
check "the checksums name every file of the folder and hold" checksums_hold
check "a release names the processors as PIE does" processor_is_named_as_pie_does
test_release 8.2 bookworm php8.2-cli php8.2-fpm composer
test_release 8.4 trixie php8.4-{cli,dev,fpm}
test_release 8.5 sid php8.5-{cli,dev,fpm}
check "build.sh uninstall takes away what build.sh install has put" uninstall_takes_away_what_install_puts
check "configure names all that is missing at once" configure_says_what_is_missing
source_copy "$work/source"
check "the lines of docs/install.md build, install and test from the source" phpize_builds_tests_and_installs

echo "packaging: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
