#!/usr/bin/env bash
# matrix: the core and the PHP surface on the servers of a newer Debian: Redis 8.0 and Valkey 8.1.
# The newer Debian is a folder, MATRIX_DIR/trixie (target/matrix/trixie), made by debootstrap the first time.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/suites.sh
source "$root/scripts/suites.sh"
# shellcheck source=scripts/debian.sh
source "$root/scripts/debian.sh"

series=trixie
packages=(redis-server valkey-server)
servers=(redis-server valkey-server) # programs of the folder

matrix_dir=$(realpath -m "${MATRIX_DIR:-$target_dir/matrix}")
system=$matrix_dir/$series

# Prints the path of a program that runs one of the folder, with the folder's own libraries.
make_program() {
  local loader program=$matrix_dir/bin/$1
  loader=$(find "$system/usr/lib" -maxdepth 2 -path '*-linux-gnu*/ld-linux*' | head -n 1)
  [ -n "$loader" ] || die "$system has no dynamic loader: remove that folder, then run this again"
  mkdir -p "$matrix_dir/bin"
  printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$(dirname "$loader")" "$system/usr/bin/$1" >"$program"
  chmod +x "$program"
  printf '%s\n' "$program"
}

report=() failed=()

# run NAME SUITE [ARGUMENT …]: a failure is remembered, and hides no later suite.
run() {
  local name=$1 status="passed"
  say "$name"
  "${@:2}" || status="FAILED" failed+=("$name")
  report+=("$status  $name: $closing")
}

"$root/build.sh" setup
"$root/build.sh" build
find_php
make_debian "$system" "$series" "${packages[@]}"
for server in "${servers[@]}"; do
  REDIS_SERVER=$(make_program "$server")
  export REDIS_SERVER
  version=$("$REDIS_SERVER" --version | awk '{ sub("v=", "", $3); print $1, $3 }')
  # The mutants test the tests, and need no second server for that.
  run "$version, the core" test_core --test core -- --skip mutants
  run "$version, the PHP surface" test_surface
done

say "matrix:"
printf '%s\n' "${report[@]}"
[ "${#failed[@]}" -eq 0 ] || die "tests failed in: $(printf '%s; ' "${failed[@]}")their messages are above"
say "matrix: all suites passed"
