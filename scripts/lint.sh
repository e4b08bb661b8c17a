#!/usr/bin/env bash
# lint: what can be said without running the tests.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/build.sh" setup
find_php

say "cargo fmt --check"
cargo fmt --check || die "not formatted: run cargo fmt"

# Unwrap, expect, panic and indexing are denied by Cargo.toml [lints]; clippy.toml allows them in tests.
say "cargo clippy"
cargo clippy --locked --all-targets -- -D warnings || die "clippy has objections; see above"
cargo clippy --locked --all-targets --no-default-features -- -D warnings || die "clippy has objections to the core alone; see above"

say "shellcheck"
mapfile -t shell_files < <({ git ls-files '*.sh' .ci/run; git grep -lE '^#!.*sh$' -- tests bench; } | sort -u)
shellcheck -x -S warning "${shell_files[@]}" || die "shellcheck has objections; see above"

say "php -l"
while IFS= read -r file; do
  "$PHP" -n -l "$file" >/dev/null || die "$file does not parse; see above"
done < <(git ls-files '*.php' php/bin)

"$root/build.sh" stubs
say "lint: nothing to object to"
