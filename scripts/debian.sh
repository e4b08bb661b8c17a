# shellcheck shell=bash
# Other Debians in folders, made by debootstrap. Sourced after common.sh, never run.

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
  "${as_root[@]}" chroot "$folder.new" env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "$@" >>"$folder.log" || die "apt-get failed in $folder.new: read $folder.log"
  "${as_root[@]}" mv "$folder.new" "$folder"
}
