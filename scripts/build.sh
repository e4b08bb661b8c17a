#!/usr/bin/env bash
# build: target/release/libdelayqueue.so, proven to load.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

find_php
if [ "$(cat "$target_dir/php-api" 2>/dev/null)" != "$(php_api)" ] && [ -d "$target_dir/release" ]; then
  cargo clean --quiet --release --package ext-php-rs --package delayqueue
fi
say "building the extension for PHP $("$PHP_CONFIG" --version) (the first time takes a few minutes)"
cargo build --release --locked ||
  die "the extension did not build: if the message above is about libclang or php.h, run ./build.sh setup"
PHP_INI_SCAN_DIR='' "$PHP" -n -d "extension=$extension" --ri delayqueue >/dev/null ||
  die "$extension was built but $PHP does not load it: PHP and PHP_CONFIG must be of one PHP"
php_api >"$target_dir/php-api.$$"
mv "$target_dir/php-api.$$" "$target_dir/php-api" # another verb may read it just now
say "built $extension"
