# shellcheck shell=bash
# Other Debians as folders, made by debootstrap the first time. Sourced after common.sh, never run.

# shellcheck disable=SC2154
matrix_dir=$(realpath -m "${MATRIX_DIR:-$target_dir/matrix}")
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

# The Debian mirror of this machine.
mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1
}

# make_debian FOLDER SERIES PACKAGE …: a folder of that name is always complete, because it gets its name last.
make_debian() {
  local folder=$1 series=$2 from
  shift 2
  [ ! -d "$folder" ] || return 0
  command -v apt-get >/dev/null || die "no apt-get here: $folder needs Debian"
  install_packages debootstrap
  from=$(mirror)
  [ -n "$from" ] || die "apt knows no Debian mirror: run apt-get update, or look at /etc/apt/sources.list"
  say "making $folder from $from (some minutes)"
  mkdir -p "$(dirname "$folder")"
  "${as_root[@]}" rm -rf --one-file-system "$folder.new"
  "${as_root[@]}" /usr/sbin/debootstrap --variant=minbase "$series" "$folder.new" "$from" >"$folder.log" ||
    die "debootstrap failed: read $folder.log"
  # An index that is a few days old is good enough.
  printf 'Acquire::Check-Valid-Until "false";\n' | "${as_root[@]}" tee "$folder.new/etc/apt/apt.conf.d/90stale" >/dev/null
  "${as_root[@]}" cp /etc/resolv.conf "$folder.new/etc/resolv.conf"
  printf '127.0.0.1 localhost\n' | "${as_root[@]}" tee "$folder.new/etc/hosts" >/dev/null
  # Newer packages than sid's are in experimental: a PHP that sid does not have yet.
  [ "$series" != sid ] || printf 'deb %s experimental main\n' "$from" | "${as_root[@]}" tee "$folder.new/etc/apt/sources.list.d/experimental.list" >/dev/null
  # shellcheck disable=SC2016
  "${as_root[@]}" unshare --mount sh -euc '
    system=$1
    shift
    mount -t proc proc "$system/proc"
    exec chroot "$system" env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive sh -euc "
      apt-get update -q
      apt-get install -q -y --no-install-recommends \"\$@\"" sh "$@"
  ' sh "$folder.new" "$@" >>"$folder.log" || die "apt-get failed in $folder.new: read $folder.log"
  "${as_root[@]}" mv "$folder.new" "$folder"
}

# in_debian SYSTEM PLACE COMMAND …: runs it in that folder, in the work tree, which lies there at its own path for so long, and so does PLACE.
in_debian() {
  "${as_root[@]}" mkdir -p "$1$root" "$1$2"
  # shellcheck disable=SC2016
  "${as_root[@]}" unshare --mount sh -euc '
    system=$1 place=$2 root=$3
    shift 3
    mount --bind "$root" "$system$root"
    mount --bind "$place" "$system$place"
    mount -t proc proc "$system/proc"
    mount --rbind /dev "$system/dev"
    exec chroot "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root sh -euc "cd \"\$1\"; shift; exec \"\$@\"" sh "$root" "$@"
  ' sh "$1" "$2" "$root" "${@:3}"
}

# has_packages SYSTEM PACKAGE …
has_packages() {
  local package
  for package in "${@:2}"; do
    compgen -G "$1/var/lib/dpkg/info/$package.list" >/dev/null ||
      compgen -G "$1/var/lib/dpkg/info/$package:*.list" >/dev/null || return 1
  done
}

# make_system SERIES PACKAGE …: sets $system to MATRIX_DIR/SERIES, a folder with that Debian and these packages.
make_system() {
  system=$matrix_dir/$1
  has_packages "$system" "${@:2}" || "${as_root[@]}" rm -rf --one-file-system "$system"
  make_debian "$system" "$@"
}

# make_program NAME [ARGUMENT …]: prints the path of a program that runs $system/usr/bin/NAME with the libraries of $system.
make_program() {
  local loader program
  program=$matrix_dir/bin/$(basename "$system")/$1
  loader=$(find "$system/usr/lib" -maxdepth 2 -path '*-linux-gnu*/ld-linux*' | head -n 1)
  [ -n "$loader" ] || die "$system has no dynamic loader: remove that folder, then run this again"
  mkdir -p "$(dirname "$program")"
  # Its own path as the name of the program: PHP_BINARY has to name what a test can run.
  printf '#!/bin/sh\nexec "%s" --argv0 "%s" --library-path "%s" "%s"%s "$@"\n' \
    "$loader" "$program" "$(dirname "$loader")" "$system/usr/bin/$1" "$(printf ' "%s"' "${@:2}")" |
    sed 's/ ""//' >"$program"
  chmod +x "$program"
  printf '%s\n' "$program"
}

# use_php SERIES: lets PHP and PHP_CONFIG be those of $system, whose packages phpSERIES-cli and phpSERIES-dev are there.
use_php() {
  PHP_CONFIG=$matrix_dir/bin/$(basename "$system")/php-config$1
  mkdir -p "$(dirname "$PHP_CONFIG")"
  sed "s|^prefix=\"/usr\"\$|prefix=\"$system/usr\"|" "$system/usr/bin/php-config$1" >"$PHP_CONFIG"
  chmod +x "$PHP_CONFIG"
  PHP=$(make_program "php$1" -d "extension_dir=$system/usr/lib/php/$("$PHP_CONFIG" --phpapi)")
  export PHP PHP_CONFIG
}
