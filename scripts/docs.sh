#!/usr/bin/env bash
# docs: makes the site of docs/ in target/docs/site, and tries all that it says: code samples, links, search, alert rules.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/build.sh" setup
"$root/build.sh" build
find_php

export DOCS_PAGES=$target_dir/docs/pages DOCS_SITE=$target_dir/docs/site
say "pages (docs/tools/assemble.php)"
rm -rf "$DOCS_PAGES"
"$PHP" -n docs/tools/assemble.php "$DOCS_PAGES"
say "site (mkdocs)"
mkdocs build --quiet --strict --clean --config-file docs/mkdocs.yml || die "mkdocs objects to the pages; see above"

say "samples, links, search, alert rules (PHPUnit)"
phpunit=$(command -v "${PHPUNIT:-phpunit}") || die "no phpunit: run ./build.sh setup, or set PHPUNIT to its path"
use_built_extension
find_strict_options "$phpunit"
# shellcheck disable=SC2154
"$PHP" "$phpunit" --configuration "$root/tests/docs/phpunit.xml" "${strict[@]}"
# A browser that opens the files themselves gives the search no right to read its index.
say "docs: read them at http://127.0.0.1:8000 after: python3 -m http.server --bind 127.0.0.1 --directory $DOCS_SITE"
