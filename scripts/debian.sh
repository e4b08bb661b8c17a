# shellcheck shell=bash
# Other Debians, as folders: MATRIX_DIR/SERIES (target/matrix/trixie), made by debootstrap the first time.
# Sourced after common.sh, never run.

# shellcheck disable=SC2154
matrix_dir=$(realpath -m "${MATRIX_DIR:-$target_dir/matrix}")

# The Debian mirror of this machine.
mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1
}

# has_packages SYSTEM PACKAGE …
has_packages() {
  local package
  for package in "${@:2}"; do
    compgen -G "$1/var/lib/dpkg/info/$package.list" >/dev/null ||
      compgen -G "$1/var/lib/dpkg/info/$package:*.list" >/dev/null || return 1
  done
}

# make_system SERIES PACKAGE …: sets $system to a folder with that Debian and these packages.
make_system() {
  local series=$1 packages=("${@:2}") as_root=() from
  system=$matrix_dir/$series
  ! has_packages "$system" "${packages[@]}" || return 0
  command -v apt-get >/dev/null || die "no apt-get here: a folder of Debian $series can be made on Debian alone"
  install_packages debootstrap
  from=$(mirror)
  [ -n "$from" ] || die "apt knows no Debian mirror: run apt-get update, or look at /etc/apt/sources.list"
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  say "making $system from $from (a few minutes)"
  mkdir -p "$matrix_dir"
  # A folder of that name is always complete: it gets its name last.
  "${as_root[@]}" rm -rf --one-file-system "$system.new"
  "${as_root[@]}" /usr/sbin/debootstrap --variant=minbase --include="$(IFS=, && echo "${packages[*]}")" \
    "$series" "$system.new" "$from" >"$system.log" || die "debootstrap failed: read $system.log"
  "${as_root[@]}" rm -rf --one-file-system "$system"
  "${as_root[@]}" mv "$system.new" "$system"
}

# make_program NAME [ARGUMENT …]: prints the path of a program that runs $system/usr/bin/NAME with the libraries of $system.
make_program() {
  local loader program=$matrix_dir/bin/$1
  loader=$(find "$system/usr/lib" -maxdepth 2 -path '*-linux-gnu*/ld-linux*' | head -n 1)
  [ -n "$loader" ] || die "$system has no dynamic loader: remove that folder, then run this again"
  mkdir -p "$matrix_dir/bin"
  # Its own path as the name of the program: PHP_BINARY has to name what a test can run.
  printf '#!/bin/sh\nexec "%s" --argv0 "%s" --library-path "%s" "%s"%s "$@"\n' \
    "$loader" "$program" "$(dirname "$loader")" "$system/usr/bin/$1" "$(printf ' "%s"' "${@:2}")" |
    sed 's/ ""//' >"$program"
  chmod +x "$program"
  printf '%s\n' "$program"
}

# use_php SERIES: lets PHP and PHP_CONFIG be those of $system, whose packages phpSERIES-cli and phpSERIES-dev are there.
use_php() {
  PHP_CONFIG=$matrix_dir/bin/php-config$1
  mkdir -p "$matrix_dir/bin"
  sed "s|^prefix=\"/usr\"\$|prefix=\"$system/usr\"|" "$system/usr/bin/php-config$1" >"$PHP_CONFIG"
  chmod +x "$PHP_CONFIG"
  PHP=$(make_program "php$1" -d "extension_dir=$system/usr/lib/php/$("$PHP_CONFIG" --phpapi)")
  export PHP PHP_CONFIG
}
