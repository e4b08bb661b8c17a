#!/bin/sh
# Runs every call of the extension under valgrind: no invalid access, nothing definitely lost.
#
#     tests/valgrind.sh path/to/delayqueue.so
#
# PHP and REDIS_SERVER name other programs than the ones found. PHP's own allocator is switched off, so that valgrind
# sees every block; the module stays loaded, so that it can name the functions.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -eq 1 ] || { echo "usage: $0 path/to/delayqueue.so" >&2; exit 2; }
extension=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
php=${PHP:-$(command -v php)}
command -v valgrind >/dev/null || { echo "no valgrind here: install it" >&2; exit 2; }

# shellcheck source=tests/private-redis.sh
. "$root/tests/private-redis.sh"

# pcntl is a shared extension in some builds, and built in in others.
pcntl=
"$php" -n -m | grep -qx pcntl || pcntl='-d extension=pcntl'

status=0
# shellcheck disable=SC2086
USE_ZEND_ALLOC=0 ZEND_DONT_UNLOAD_MODULES=1 valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite \
    --show-leak-kinds=definite --error-exitcode=9 --log-file="$work/valgrind.log" \
    "$php" -n -d pcre.jit=0 -d extension="$extension" $pcntl "$root/tests/valgrind.php" \
    "redis+unix://$work/redis.sock?db=0" >"$work/output" 2>&1 || status=$?
cat "$work/output" "$work/valgrind.log"
if [ $status -ne 0 ]; then
    echo "valgrind: 0 passed, 1 failed (exit code $status)"
    exit 1
fi
echo "valgrind: 1 passed, 0 failed"
