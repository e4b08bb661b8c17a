#!/usr/bin/env bash
# Runs the tests that look at the extension from PHP, in processes of their own: PHPUnit, once more with opcache and its JIT
# compiler, the leak loop, valgrind. Fails on any failure; a skipped or incomplete test is one.
#
#     tests/run-php.sh path/to/delayqueue.so
#
# PHP, PHPUNIT, PHP_FPM and REDIS_SERVER name other programs than the ones found.
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: $0 path/to/delayqueue.so" >&2; exit 2; }
given=$(realpath "$1")
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
extension=$given
[ -f "$extension" ] || die "no extension at $extension"
find_php
phpunit=$(command -v "${PHPUNIT:-phpunit}") || die "no phpunit: run ./build.sh setup, or set PHPUNIT to its path"
use_built_extension
find_strict_options "$phpunit"

run_phpunit() {
  "$PHP" "$@" --configuration "$root/tests/phpunit/phpunit.xml" "${strict[@]}"
}

failed=()
say "processes: crashes, restarts, signals, forks, php-fpm (PHPUnit)"
run_phpunit "$phpunit" || failed+=("PHPUnit")
say "processes under opcache and its JIT compiler (PHPUnit)"
run_phpunit -d opcache.enable_cli=1 -d opcache.jit=1255 -d opcache.jit_buffer_size=32M "$phpunit" \
  --filter '(Crash|Fork|ScriptFlush|Signals|WakeUp|Worker(Timeout|End|Poison))Test' || failed+=("PHPUnit under opcache")
say "leaks: every call thousands of times"
"$PHP" "$root/tests/leak.php" || failed+=("the leak loop")
say "leaks and invalid accesses (valgrind)"
"$root/tests/valgrind.sh" "$extension" || failed+=("valgrind")

[ "${#failed[@]}" -eq 0 ] || die "failed: $(printf '%s; ' "${failed[@]}")the messages are above"
