#!/usr/bin/env bash
# The one door to building, testing, showing and installing delayqueue. ./build.sh help lists the verbs.
#
# Every verb can be run again at any time; what is done already is not done twice.
#
# Environment: PHP_CONFIG (which PHP to build for), PHP (its command line), CARGO_TARGET_DIR (where cargo builds),
# INSTALL_ROOT (a folder that stands for / when installing), PHPUNIT (which PHPUnit), PHP_SERIES (the series of PHP that setup installs, as in 8.4),
# REDIS_SERVER (which server the tests and benchmarks start), MYSQL_SERVER (the mysqld of a MySQL, for the tests of the database side too),
# DATABASES (which databases these tests run on, as in "postgresql mariadb mysql sqlite"), MATRIX_DIR (where matrix keeps its servers and its PHP),
# ZTS_DIR (where zts keeps its PHP), ENVIRONMENT_DIR (where environment keeps its user's files), DIST_DIR (where dist puts its files),
# FRAMEWORKS_DIR (where frameworks keeps its packages), FRAMEWORKS_PHP (here: frameworks does without the PHP it finds there).
set -euo pipefail

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/scripts/common.sh"

usage() {
  cat <<'TEXT'
usage: ./build.sh VERB

  help     print this list
  setup    install what is missing on Debian: PHP and its headers, libclang, Redis, PostgreSQL, MariaDB, PHPUnit, MkDocs, shellcheck
  build    compile the extension for PHP and prove that it loads
  demo     set up, build, and run a small shop that closes its unpaid orders while a worker is killed (under a minute)
  test     set up, build, and run the suites of tests (under 10 minutes): test [SUITE|FILE|FILE::TEST …]
  verify   run what is too long for each day and belongs to a release (hours), or parts of it: verify [PART …], of mutants, databases, long, memory,
           opcache, leaks, valgrind, faults, frameworks, zts, matrix, samples, environment
  docs     make the site of docs/ in target/docs/site, and try its code samples, links, search and alert rules
  matrix   test on Redis 6.2 and 8.0, Valkey 8.1 and 9.1, PHP 8.4 and 8.5, PostgreSQL 17 and 18, MariaDB 11.8 and MySQL 9.7, which it brings into
           target/matrix; and test the packages of dist
  zts      test on a thread-safe PHP, which it builds from Debian's source in target/zts, and with several threads
  environment  build, demo and test as a user without name, home and network, in a Turkish locale, and so on (as root)
  faults   every fault of docs/reliability.md, on a single server, under Sentinels and in a cluster, and those of the outbox (a quarter of an hour)
  soak     hold a load while one fault after another hits it, and count: soak [sentinel|cluster] [--minutes=15]
  frameworks  test the framework adapters on the newest versions in Debian sid, which it brings into target/frameworks
  dist     make what a release offers for PHP, in target/dist: tarball, PIE's zip, Debian package, checksums
  bench    measure the extension beside its peers; --help lists the options, bench/README.md says how to read it
  lint     formatting, clippy, shellcheck, php -l, the release workflow, and the stub compared with what the extension declares
  install  put delayqueue.so and its ini where PHP looks for them
  uninstall  take away what install has put there
  stubs    show how stubs/delayqueue.stub.php differs from what the extension declares
TEXT
}

case "${1:-help}" in
  help | -h | --help) usage ;;
  setup | build | demo | docs | matrix | zts | environment | dist | faults | frameworks | lint | install | uninstall | stubs)
    [ $# -eq 1 ] || die "'$1' takes no arguments; ./build.sh help lists the verbs"
    exec "$root/scripts/$1.sh"
    ;;
  test | verify | bench | soak) exec "$root/scripts/$1.sh" "${@:2}" ;;
  *)
    usage >&2
    die "'$1' is not a verb"
    ;;
esac
