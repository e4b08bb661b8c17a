#!/usr/bin/env bash
# Runs peerbench, another harness for the same peers, with the built extension among them.
#
#     bench/peerbench/run.sh DIR [options of its bench.php]
#
# DIR is a checkout of peerbench. It is copied to a temporary folder together with the drivers beside this script; DIR itself
# stays as it is. The results go to bench/results/ unless --out=FILE says otherwise.
set -euo pipefail

[ $# -ge 1 ] && [ -f "$1/bench.php" ] || { echo "usage: $0 DIR [options of its bench.php]" >&2; exit 2; }
peerbench=$(realpath "$1")
shift
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
[ -f "$extension" ] || die "no extension at $extension: run ./build.sh build"
find_php
use_built_extension

options=("$@")
case " $* " in
  *' --out='*) ;;
  *)
    mkdir -p "$root/bench/results"
    options+=("--out=$root/bench/results/$(date +%F)-peerbench")
    ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cp -R "$peerbench/." "$work"
cp "$root"/bench/peerbench/*.php "$work/drivers/"
"$PHP" "$work/bench.php" "${options[@]}"
