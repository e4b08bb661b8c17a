#!/usr/bin/env bash
# Runs the tests that look at the extension from PHP, in processes of their own: PHPUnit, once more with opcache and its JIT
# compiler, the leak loop, valgrind. Fails on any failure; a skipped or incomplete test is one.
#
#     tests/run-php.sh path/to/delayqueue.so [console|processes|opcache|leaks|valgrind …]
#
# PHP, PHPUNIT, PHP_FPM and REDIS_SERVER name other programs than the ones found.
set -euo pipefail

[ $# -ge 1 ] || { echo "usage: $0 path/to/delayqueue.so [console|processes|opcache|leaks|valgrind …]" >&2; exit 2; }
given=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- console processes opcache leaks valgrind
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
extension=$given
[ -f "$extension" ] || die "no extension at $extension"
find_php
phpunit=$(command -v "${PHPUNIT:-phpunit}") || die "no phpunit: run ./build.sh setup, or set PHPUNIT to its path"
use_built_extension
find_strict_options "$phpunit"

# run_phpunit FOLDER OPTION …: of PHP, and phpunit and its own.
run_phpunit() {
  "$PHP" "${@:2}" --configuration "$root/tests/$1/phpunit.xml" "${strict[@]}"
}

run_part() {
  case $1 in
    console)
      say "the command line (PHPUnit)"
      run_phpunit console "$phpunit"
      ;;
    processes)
      say "processes: crashes, restarts, signals, forks, php-fpm (PHPUnit)"
      run_phpunit phpunit "$phpunit"
      ;;
    opcache)
      say "processes under opcache and its JIT compiler (PHPUnit)"
      run_phpunit phpunit -d opcache.enable_cli=1 -d opcache.jit=1255 -d opcache.jit_buffer_size=32M "$phpunit" \
        --filter '(Crash|Fork|Opcache|ScriptFlush|Signals|WakeUp|Worker(Timeout|End|Poison))Test'
      ;;
    leaks)
      say "leaks: every call thousands of times"
      "$PHP" "$root/tests/leak.php"
      ;;
    valgrind)
      say "leaks and invalid accesses (valgrind)"
      "$root/tests/valgrind.sh" "$extension"
      ;;
    *) die "'$1' is no part of $0" ;;
  esac
}

failed=()
for part in "$@"; do run_part "$part" || failed+=("$part"); done
[ "${#failed[@]}" -eq 0 ] || die "failed: $(printf '%s; ' "${failed[@]}")the messages are above"
