#!/usr/bin/env bash
# zts: thread-safe PHP, which no Debian packages: built from Debian's source of its PHP in ZTS_DIR (target/zts) the first time. On it the
# PHP surface, the package, the processes, and the tests with real threads.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/suites.sh
source "$root/scripts/suites.sh"
# shellcheck source=scripts/debian.sh
source "$root/scripts/debian.sh"

series=${PHP_SERIES:-8.2}
zts_dir=$(realpath -m "${ZTS_DIR:-$target_dir/zts}")
php_dir=$zts_dir/php$series

# The source in $php_dir/source, brought with lists of apt's own: those of this machine need not name sources.
bring_source() {
  local options=(-o "Dir::Etc::SourceList=$php_dir/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$php_dir/lists"
    -o Acquire::Check-Valid-Until=false -o "APT::Sandbox::User=")
  # shellcheck disable=SC1091
  printf 'deb-src %s %s main\n' "$(mirror)" "$(. /etc/os-release && echo "$VERSION_CODENAME")" >"$php_dir/sources.list"
  mkdir -p "$php_dir/lists/partial"
  apt-get "${options[@]}" update -q && (cd "$php_dir" && apt-get "${options[@]}" source -q --download-only "php$series") ||
    die "Debian's source of php$series does not come: look at the messages above"
  dpkg-source --no-check --extract "$php_dir"/php"$series"_*.dsc "$php_dir/source" >>"$php_dir/log" ||
    die "Debian's source of php$series does not unpack: read $php_dir/log"
}

# PHP with no more than the tests need, and not optimised, which takes a third of the time; libphp.so is for the test with threads. It counts as
# built once its last step is done.
make_php() {
  [ ! -e "$php_dir/built" ] || return 0
  install_packages dpkg-dev gcc libc6-dev make pkg-config bison re2c libxml2-dev libsqlite3-dev libcurl4-openssl-dev libssl-dev libicu-dev \
    libsodium-dev g++
  say "building a thread-safe PHP $series in $php_dir (some minutes)"
  rm -rf "$php_dir"
  mkdir -p "$php_dir/php.d"
  bring_source
  (
    cd "$php_dir/source"
    CFLAGS="-O0 -g0" CXXFLAGS="-O0 -g0" ./configure --quiet --prefix="$php_dir" --with-config-file-path="$php_dir" --with-config-file-scan-dir="$php_dir/php.d" \
      --enable-zts --disable-all --disable-cgi --disable-phpdbg --enable-embed=shared --enable-fpm --enable-opcache \
      --enable-session --enable-pcntl --enable-posix --enable-sockets --enable-ctype --enable-filter --enable-tokenizer --enable-phar \
      --enable-mbstring --disable-mbregex --with-libxml --enable-dom --enable-xml --enable-xmlwriter \
      --enable-intl --with-sodium --with-openssl --with-curl --enable-pdo --with-pdo-sqlite
    nice -n 5 make -s -j"$(nproc)"
    make -s install
  ) >>"$php_dir/log" 2>&1 || die "PHP does not build: read $php_dir/log"
  # A name that only Debian's own build fills in.
  sed -i 's|/@DEBIAN_PHP_API@||g' "$php_dir/bin/php-config" "$php_dir/bin/phpize"
  # Where Debian has PHP's libraries; no limit of memory, errors to the log, and opcache, as Debian has them.
  printf 'include_path=".:/usr/share/php"\nmemory_limit=-1\ndisplay_errors=0\nlog_errors=1\n' >"$php_dir/php.d/00-debian.ini"
  printf 'zend_extension=opcache.so\n' >"$php_dir/php.d/10-opcache.ini"
  rm -rf "$php_dir/source"
  touch "$php_dir/built"
}

"$root/build.sh" setup
make_php
PHP_CONFIG=$php_dir/bin/php-config
PHP=$php_dir/bin/php
PHP_FPM=$php_dir/sbin/php-fpm
RUN_TESTS=$php_dir/lib/php/build/run-tests.php
target_dir=$zts_dir/cargo
CARGO_TARGET_DIR=$target_dir
export PHP_CONFIG PHP PHP_FPM RUN_TESTS CARGO_TARGET_DIR
extension=$target_dir/release/libdelayqueue.so
"$root/build.sh" build

name="thread-safe PHP $("$PHP_CONFIG" --version)"
suite "$name, the PHP surface (phpt)" test_surface
suite "$name, the PHP package (PHPUnit)" test_phpunit "$root/phpunit.xml.dist" --exclude-group verify
suite "$name, threads" test_script tests/threads/run.sh "$extension"
suite "$name, processes" test_script tests/run-php.sh "$extension"
account zts
