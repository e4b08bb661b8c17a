# shellcheck shell=bash
# Checks of a library that leaves this machine. Sourced after common.sh, never run.

# The library has 5.2 MB, 0.7 of them for memory:// and its Lua. Users download it with each package and image, so a crate that brings half a
# megabyte along has to be noticed.
# shellcheck disable=SC2034
max_bytes=$((56 * 100 * 1000))

# machine_paths LIBRARY: prints the strings in it that name the source tree, the target folder or cargo's folder of this machine.
# The tree counts with what is compiled in it: a tree at /src is in the paths of all crates otherwise.
machine_paths() {
  # shellcheck disable=SC2154
  {
    strings "$1" | grep -F -x -e "$root"
    strings "$1" | grep -F -e "$root/src/" -e "$root/build.rs" -e "$root/target/" -e "$target_dir/" -e "${CARGO_HOME:-$HOME/.cargo}/"
  } || true
}
