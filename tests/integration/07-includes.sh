#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Who includes whom: the folders use one another one way, and no nouns stand in a circle.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
REPO=$(cd "$(dirname "$0")/../.." && pwd)

# A house of three files: $1 is what keygen/digest.h includes.
house() {
	rm -rf "$tmp/house"
	mkdir -p "$tmp/house"/{scripts,cache,keygen,interpose,cli}
	cp "$REPO/scripts/layers" "$tmp/house/scripts/"
	printf '#include "%s"\n' "$1" >"$tmp/house/keygen/digest.h"
	echo '#include "keygen/digest.h"' >"$tmp/house/keygen/scan.c"
	: >"$tmp/house/keygen/scan.h"
	: >"$tmp/house/keygen/scan_text.h"
	: >"$tmp/house/cache/store.h"
}
refused() { # what is said
	! "$tmp/house/scripts/layers" --quiet >"$tmp/said" 2>&1 && cat "$tmp/said" && grep -qF "$1" "$tmp/said"
}

check "No folder uses one that it must not, and no nouns use one another in a circle." "$REPO/scripts/layers" --quiet
house cache/store.h
check "A folder that uses another one against the arrows is refused." refused 'keygen must not use cache'
house keygen/scan.h
check "A circle of two nouns is refused." refused 'a circle, or on top of one: keygen/digest, keygen/scan'
house keygen/scan_text.h
check "A part of a noun counts as the noun." refused 'a circle'
house keygen/gone.h
check "A header that is not there is refused." refused 'which is not there'
house stdint.h
sed -i 's/"stdint.h"/<stdint.h>/' "$tmp/house/keygen/digest.h"
check "A house in order is accepted." "$tmp/house/scripts/layers" --quiet
plan
