#!/usr/bin/env bash
# dist: what a release offers for one PHP (PHP and PHP_CONFIG say which), in target/dist (or DIST_DIR): a tarball, the zip that PIE
# looks for, on Debian a package, and the checksums of all files there.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/deb.sh
source "$root/scripts/deb.sh"
# shellcheck source=scripts/library.sh
source "$root/scripts/library.sh"

dist_dir=$(realpath -m "${DIST_DIR:-$target_dir/dist}")

# Builds without the paths of this machine and without symbols; the folder is not that of ./build.sh build, whose flags differ.
build_library() {
  local cargo_home=${CARGO_HOME:-$HOME/.cargo} flags
  flags="--remap-path-prefix=$(rustc --print sysroot)=rust --remap-path-prefix=$cargo_home=cargo"
  flags+=" --remap-path-prefix=$root=delayqueue --remap-path-prefix=$target_dir=target"
  say "building for PHP $("$PHP_CONFIG" --version) (the first time takes a few minutes)"
  RUSTFLAGS="${RUSTFLAGS:-} $flags" CFLAGS="${CFLAGS:-} -ffile-prefix-map=$cargo_home=cargo -ffile-prefix-map=$target_dir=target" \
    CARGO_PROFILE_RELEASE_STRIP=symbols CARGO_TARGET_DIR=$target_dir/dist-build \
    DELAYQUEUE_COMMIT=${DELAYQUEUE_COMMIT:-$(git describe --always --dirty --exclude '*' 2>/dev/null || true)} \
    cargo build --release --locked || die "the extension did not build: see above"
}

# Refuses a library that must not leave this machine.
check_library() {
  local bytes paths
  paths=$(machine_paths "$library")
  [ -z "$paths" ] || die "$library tells paths of this machine: $paths"
  bytes=$(stat -c %s "$library")
  [ "$bytes" -lt "$max_bytes" ] || die "$library has $bytes bytes; fewer than $max_bytes are wanted"
  ! readelf --section-headers --wide "$library" | grep '\.symtab' >/dev/null || die "$library is not stripped"
  PHP_INI_SCAN_DIR='' "$PHP" -n -d "extension=$library" --ri delayqueue || die "$PHP does not load $library"
}

# Prints the newest glibc that the library asks for, as in 2.34; nothing where it was linked with another C library.
glibc_floor() {
  { objdump -T "$library" | grep -o 'GLIBC_[0-9.]*' || true; } | sort -Vu | tail -n 1 | cut -d_ -f2
}

make_tarball() {
  local name=delayqueue-$version-$platform folder
  folder=$work/$name
  mkdir "$folder"
  install -m 644 "$library" "$folder/delayqueue.so"
  install -m 644 "$root/LICENSE" "$licenses" "$root/CHANGELOG.md" "$root/docs/install.md" "$root/stubs/delayqueue.stub.php" "$folder/"
  print_ini >"$folder/delayqueue.ini"
  {
    echo "delayqueue $version for PHP $php_series, $arch, $libc${zts:+, thread-safe (ZTS)}"
    [ -z "$floor" ] || echo "needs glibc $floor or newer"
    echo "install: docs/install.md of the project, here install.md"
  } >"$folder/README"
  # Equal libraries give equal bytes: no owner, one date, one order.
  tar --create --file - --directory "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" "$name" |
    gzip --no-name -9 >"$dist_dir/$name.tar.gz"
}

# PIE takes the file by its name and wants delayqueue.so at the top of it.
make_pie_zip() {
  local name=php_delayqueue-${version}_$platform.zip
  mkdir "$work/pie"
  install -m 644 "$library" "$work/pie/delayqueue.so"
  install -m 644 "$root/LICENSE" "$licenses" "$work/pie/"
  touch --date="@$epoch" "$work/pie"/*
  rm -f "$dist_dir/$name"
  (cd "$work/pie" && zip --quiet -X "$dist_dir/$name" delayqueue.so LICENSE "$(basename "$licenses")")
}

find_php
for tool in zip objdump readelf strings; do
  command -v "$tool" >/dev/null || die "no $tool: install zip and binutils, then run this again"
done
build_library
library=$target_dir/dist-build/release/libdelayqueue.so
check_library

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
php_series=$("$PHP_CONFIG" --version | cut -d. -f1-2)
arch=$(processor)
floor=$(glibc_floor)
libc=glibc
[ -n "$floor" ] || libc=musl
zts=
[ "$("$PHP" -n -r 'echo (int) PHP_ZTS;')" = 0 ] || zts=-zts
platform=php$php_series-$arch-linux-$libc$zts
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
licenses=$work/THIRD-PARTY-LICENSES
"$PHP" -n "$root/scripts/licenses.php" >"$licenses" || die "the licences of what is linked were not found: see above"
mkdir -p "$dist_dir"
make_tarball
make_pie_zip
make_deb
(cd "$dist_dir" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\n' | sort | xargs sha256sum >SHA256SUMS)
say "in $dist_dir, ${floor:+glibc $floor or newer, }$(stat -c %s "$library") bytes:"
cat "$dist_dir/SHA256SUMS"
