#!/usr/bin/env bash
# Packs the Composer packages php/ and stubs/ of the last commit into a folder, as zips for Composer's repositories of type artifact.
# usage: scripts/composer-packages.sh FOLDER
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# -eq 1 ] || die "usage: scripts/composer-packages.sh FOLDER"
mkdir -p "$1"
dist_dir=$(realpath "$1")
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# pack FOLDER NAME: with the version in composer.json, where Composer looks for it in an artifact.
pack() {
  mkdir "$work/$1"
  git archive "HEAD:$1" | tar -x -C "$work/$1"
  COMPOSER_ALLOW_SUPERUSER=1 composer config --working-dir="$work/$1" version "$version"
  rm -f "$dist_dir/$2-$version.zip"
  (cd "$work/$1" && zip --quiet -X --recurse-paths "$dist_dir/$2-$version.zip" .)
}

pack php delayqueue-delayqueue
pack stubs delayqueue-delayqueue-stubs
