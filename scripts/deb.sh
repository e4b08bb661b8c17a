# shellcheck shell=bash
# The Debian package of one PHP. Sourced by dist.sh, whose variables it reads, never run.
# shellcheck disable=SC2154

maintainer=${DEB_MAINTAINER:-delayqueue maintainers <maintainers@delayqueue.example>}

# Makes phpX.Y-delayqueue for a PHP as Debian packages it, where dpkg-deb is; does nothing for another.
make_deb() {
  local api package folder
  api=$("$PHP_CONFIG" --phpapi 2>/dev/null | grep -E '^[0-9]+$' || true)
  # Debian's extensions lie in /usr/lib/php/API; a thread-safe PHP of Debian there has a letter more.
  case "$("$PHP_CONFIG" --extension-dir)" in */usr/lib/php/"${api:-none}") ;; *) return 0 ;; esac
  if [ -n "$zts" ] || [ -z "$floor" ] || ! command -v dpkg-deb >/dev/null; then return 0; fi
  package=php$php_series-delayqueue
  folder=$work/$package
  install -D -m 644 "$library" "$folder/usr/lib/php/$api/delayqueue.so"
  install -d "$folder/etc/php/$php_series/mods-available" "$folder/usr/share/doc/$package" "$folder/DEBIAN"
  print_ini >"$folder/etc/php/$php_series/mods-available/delayqueue.ini"
  install -m 644 "$root/stubs/delayqueue.stub.php" "$folder/usr/share/doc/$package/"
  deb_documents "$folder/usr/share/doc/$package"
  deb_scripts "$folder/DEBIAN"
  deb_control "$folder" >"$folder/DEBIAN/control"
  find "$folder" -exec touch --no-dereference --date="@$epoch" {} +
  SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group --build -Zxz "$folder" \
    "$dist_dir/${package}_$version-1_$(dpkg --print-architecture).deb" >/dev/null
}

deb_control() {
  cat <<TEXT
Package: $package
Version: $version-1
Architecture: $(dpkg --print-architecture)
Maintainer: $maintainer
Installed-Size: $(du -sk --exclude=DEBIAN "$1" | cut -f1)
Depends: libc6 (>= $floor), libgcc-s1 (>= 4.2), php-common (>= 1:81~), phpapi-$api
Suggests: redis-server | valkey-server
Provides: php-delayqueue
Section: php
Priority: optional
Description: delay queue on Redis for PHP $php_series
 A native extension with the class DelayQueue: push a job with a delay, and a
 worker gets it once it is due and not before. Jobs are held under leases, so
 that a crash of a worker loses none; all state is in Redis 6.2 or newer, or
 in Valkey.
TEXT
}

# The ini file is a conffile, so dpkg keeps the changes of its owner. phpenmod links it for the command line and for every server.
deb_scripts() {
  local helper='/usr/lib/php/php-maintscript-helper' script
  printf '/etc/php/%s/mods-available/delayqueue.ini\n' "$php_series" >"$1/conffiles"
  # As the packages of PHP itself: its servers restart once, after the last of them.
  printf "activate-noawait /etc/php/$php_series/%s/conf.d\n" apache2 apache2filter fpm >"$1/triggers"
  for script in postinst:configure:enmod prerm:remove:dismod; do
    IFS=: read -r name when verb <<<"$script"
    # prerm: while phpquery still finds the ini file.
    cat >"$1/$name" <<TEXT
#!/bin/sh
set -e
if [ "\$1" = "$when" ] && [ -e $helper ]; then
	. $helper
	php_invoke $verb $php_series ALL delayqueue
fi
TEXT
    chmod 755 "$1/$name"
  done
  (cd "$1/.." && find usr -type f -exec md5sum {} +) >"$1/md5sums"
  chmod 644 "$1/conffiles" "$1/triggers" "$1/md5sums"
}

deb_documents() {
  {
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: delayqueue\n\nFiles: *\n'
    sed -n 's/^Copyright (c) /Copyright: /p' "$root/LICENSE"
    echo "License: Expat"
    sed -n '/^Permission/,$p' "$root/LICENSE" | sed 's/^$/./; s/^/ /'
    printf 'Comment:\n delayqueue.so has libraries linked into it: %s.gz beside this file has their licences.\n' "$(basename "$licenses")"
  } >"$1/copyright"
  printf '%s (%s-1) unstable; urgency=medium\n\n  * Release %s; CHANGELOG.md of the project lists the changes.\n\n -- %s  %s\n' \
    "$package" "$version" "$version" "$maintainer" "$(LC_ALL=C date --utc --rfc-email --date="@$epoch")" |
    gzip --no-name -9 >"$1/changelog.Debian.gz"
  gzip --no-name -9 <"$root/CHANGELOG.md" >"$1/changelog.gz"
  gzip --no-name -9 <"$licenses" >"$1/$(basename "$licenses").gz"
}
