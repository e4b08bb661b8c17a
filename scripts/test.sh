#!/usr/bin/env bash
# test: every suite, and at the end what each has counted and how long it took. A skipped test fails its suite.
#
# Most suites mostly wait: for leases that end, for servers that are silent, for timeouts. So three of them run at once. Each has its own servers,
# sockets and folders. The long ones begin first.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/suites.sh
source "$root/scripts/suites.sh"

"$root/build.sh" setup
"$root/build.sh" build
find_php
# Beside each other the suites find it made.
use_built_extension

# shellcheck disable=SC2034
lanes=3
suite "processes: crashes, signals, forks, php-fpm, leaks, valgrind" test_script tests/run-php.sh "$extension"
suite "the core (cargo test)" test_core
suite "faults on a single server, under Sentinels and in a cluster (the quick ones)" test_phpunit "$root/tests/faults/phpunit.xml" --group quick
suite "the database side: outbox, relay, inbox, journal (PHPUnit)" test_phpunit "$root/tests/database/phpunit.xml"
suite "the Laravel driver (PHPUnit)" test_phpunit "$root/php/tests/Laravel/phpunit.xml"
suite "the docs site: code samples, links, search, alert rules (PHPUnit)" test_script "$root/build.sh" docs
suite "the dashboard in Chromium" test_script "$root/tests/browser/run.sh" "$extension"
suite "Symfony Messenger (PHPUnit)" test_phpunit "$root/tests/symfony/phpunit.xml"
suite "the PHP surface (phpt)" test_surface
suite "the PHP package (PHPUnit)" test_phpunit "$root/phpunit.xml.dist"
account test
