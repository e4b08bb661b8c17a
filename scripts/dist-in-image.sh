#!/bin/sh
# Runs ./build.sh dist and the tests of the PHP surface, and with TEST_CORE=yes those of the core, in an image of the php family
# (Debian or Alpine), as root.
# docker run --rm -v "$PWD:/build/delayqueue" -w /build/delayqueue php:8.4-zts-alpine sh scripts/dist-in-image.sh
set -eu

if command -v apk >/dev/null; then
    apk add --no-cache bash build-base binutils clang-dev coreutils curl findutils git gzip openssl redis tar zip
    # A library for PHP must use the C library that PHP has loaded.
    export RUSTFLAGS='-C target-feature=-crt-static'
else
    apt-get update
    apt-get install -y --no-install-recommends binutils ca-certificates curl gcc git libc6-dev libclang-dev openssl redis-server zip
fi
curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal --default-toolchain 1.95.0
export PATH="$HOME/.cargo/bin:$PATH"
git config --global --add safe.directory "$PWD"
# Only the tests need it.
docker-php-ext-install pcntl
./build.sh dist
tests/run-phpt.sh target/dist-build/release/libdelayqueue.so
if [ -n "${TEST_CORE:-}" ]; then
    cargo test --locked --no-default-features --test core -- --skip mutants
fi
