#!/usr/bin/env bash
# uninstall: takes away what install has put there, for the same PHP and INSTALL_ROOT. A Debian package goes with apt.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

find_php
install_root=${INSTALL_ROOT:-}
series=$("$PHP_CONFIG" --version | cut -d. -f1-2)
library=$install_root$("$PHP_CONFIG" --extension-dir)/delayqueue.so
ini=$install_root/etc/php/$series/mods-available/delayqueue.ini

if command -v dpkg >/dev/null && dpkg -S "$library" >/dev/null 2>&1; then
  die "$library belongs to a package: apt remove php$series-delayqueue"
fi
if [ ! -e "$library" ] && [ ! -e "$ini" ]; then
  say "there is no $library: nothing to remove"
  exit 0
fi
# With what phpenmod has made. Not by phpdismod: it notes that the administrator wants delayqueue disabled, and a package that comes later would be.
rm -f "$library" "$ini" "$install_root/etc/php/$series"/*/conf.d/*-delayqueue.ini "$install_root/var/lib/php/modules/$series"/*/*/delayqueue ||
  die "cannot remove $library: run as root"
say "removed $library; restart php-fpm, and take the line extension=delayqueue out of php.ini if you put it there"
