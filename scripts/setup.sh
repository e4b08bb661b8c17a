#!/usr/bin/env bash
# setup: what Debian's packages can bring is brought; the rest is named. Run as "setup.sh demo" it brings only what the demo needs.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

purpose=${1:-all}

# Prints the series of PHP to install packages of, as in 8.4: that of the packaged PHP which is there. Else nothing, because Debian's
# packages without a series, as in php-cli, bring the PHP of that Debian.
php_series() {
  local tool series=${PHP_SERIES:-}
  for tool in "${PHP_CONFIG:-php-config}" "${PHP:-php}"; do
    if [ -z "$series" ] && command -v "$tool" >/dev/null; then
      series=$("$tool" --version | sed -n '1s/^[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
      [ -z "$(missing_packages "php$series-cli")" ] || series=
    fi
  done
  printf '%s' "$series"
}

setup_packages() {
  local series packages
  series=$(php_series)
  packages=(
    "php$series-cli" "php$series-dev"                  # the PHP to build for
    libclang-dev                                       # ext-php-rs reads PHP's headers with it
    "php$series-sqlite3"                               # the demo's shop
    redis-server php-symfony-console                   # its queue, and php/bin/delayqueue for its workers
  )
  [ "$purpose" = demo ] || packages+=(
    "php$series-fpm"                                   # for the tests under it
    "php$series-curl" php-symfony-http-client          # the notifier of the package, and its transport
    phpunit openssl valgrind                           # what the tests run on
    zip binutils                                       # what dist makes and checks files with
    supervisor                                         # what runs one of the sample units
    # The Symfony transport: its framework, and what the sample application reads its configuration with.
    php-symfony-messenger php-symfony-framework-bundle php-symfony-yaml php-psr-event-dispatcher php-symfony-security-bundle
    php-dragonmantank-cron-expression                  # the lines of cron of schedules
    php-laravel-framework "php$series-redis"           # the queue driver for Laravel, and the client of its redis driver
    # The database side: servers for the tests, and Doctrine. MariaDB comes without the package that would start a server.
    postgresql mariadb-server-core mariadb-client-core "php$series-pgsql" "php$series-mysql"
    php-doctrine-dbal php-doctrine-orm php-symfony-doctrine-bridge php-symfony-doctrine-messenger
    mkdocs mkdocs-material prometheus systemd          # what docs makes the site with, and checks the configurations on it with
    chromium php-nyholm-psr7                           # what looks at the dashboard
    shellcheck composer php-phpstan-phpdoc-parser      # what lint reads with
  )
  install_packages "${packages[@]}"
}

# On anything but Debian and its children: name what is missing, all at once.
setup_by_hand() {
  local tool missing=() tools=("${PHP_CONFIG:-php-config}" redis-server)
  [ "$purpose" = demo ] || tools+=("${PHPUNIT:-phpunit}" openssl valgrind chromium npm supervisord mkdocs promtool systemd-analyze shellcheck composer)
  for tool in "${tools[@]}"; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [ "${#missing[@]}" -eq 0 ] ||
    die "no apt-get here; install by hand: ${missing[*]} (and libclang, the PHP headers, PHP's curl, pdo_sqlite, pdo_pgsql,
       pdo_mysql and pcntl; the servers of PostgreSQL and MariaDB; MkDocs' theme material; symfony/console, symfony/http-client, symfony/messenger,
       symfony/framework-bundle, symfony/yaml, symfony/doctrine-bridge, doctrine/dbal, doctrine/orm and dragonmantank/cron-expression with Composer in php/)"
}

setup_rust() {
  local part
  command -v cargo >/dev/null || die "cargo not found: install Rust 1.88 or newer (https://rustup.rs), then run this again"
  command -v cc >/dev/null || die "no C compiler: install gcc, then run this again"
  [ "$purpose" != demo ] || return 0
  for part in rustfmt clippy; do
    cargo "${part/rustfmt/fmt}" --version >/dev/null 2>&1 || {
      say "adding $part to the Rust toolchain"
      rustup component add "$part" || die "no $part: add it to your Rust installation, then run this again"
    }
  done
}

setup_rust
if command -v apt-get >/dev/null; then setup_packages; else setup_by_hand; fi
find_php
say "ready: $(cargo --version | cut -d' ' -f1-2), PHP $("$PHP_CONFIG" --version), $(redis-server --version | cut -d' ' -f1-3)"
