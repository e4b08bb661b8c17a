# shellcheck shell=sh
# A Redis for one script: $work/redis.sock, gone when the script ends, however it ends. Sourced, never run.

redis=${REDIS_SERVER:-$(command -v redis-server)}
work=$(mktemp -d)
# The path of a socket has room for 107 bytes: not every TMPDIR leaves enough of them.
if [ ${#work} -gt 80 ]; then
    rmdir "$work"
    work=$(TMPDIR=/tmp mktemp -d)
fi
server=
cleanup() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; }
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

"$redis" --port 0 --unixsocket "$work/redis.sock" --dir "$work" --save '' --appendonly no >"$work/redis.log" &
server=$!
tries=0
until [ -S "$work/redis.sock" ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] && kill -0 "$server" 2>/dev/null || { cat "$work/redis.log" >&2; exit 1; }
    sleep 0.05
done
