#!/usr/bin/env bash
# bench: the extension beside its peers, measured on this machine. Options as in bench/run.php.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case " $* " in
  *' --help '*)
    find_php
    exec "$PHP" -n "$root/bench/run.php" --help
    ;;
esac
"$root/build.sh" setup
find_php
packages=$("$PHP" -n "$root/bench/run.php" --packages "$@") || exit
if command -v apt-get >/dev/null; then
  mapfile -t packages < <(printf '%s' "$packages")
  install_packages "${packages[@]}"
fi
"$root/build.sh" build
# After the packages: they bring extensions of PHP with their ini files.
use_built_extension
exec "$PHP" "$root/bench/run.php" "$@"
