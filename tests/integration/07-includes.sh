#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Who includes whom: the folders use one another one way, and no nouns stand in a circle.
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

check "No folder includes headers of a folder that it must not use, and no modules include one another in a circle." "$REPO/scripts/layers" --quiet
house cache/store.h
check "An include against the layers is rejected." refused 'keygen must not use cache'
house keygen/scan.h
check "A circle of two modules is rejected." refused 'a circle, or on top of one: keygen/digest, keygen/scan'
house keygen/scan_text.h
check "A part of a module counts as the module." refused 'a circle'
house keygen/gone.h
check "A missing header is rejected." refused 'which is not there'
house stdint.h
sed -i 's/"stdint.h"/<stdint.h>/' "$tmp/house/keygen/digest.h"
check "A tree without these faults is accepted." "$tmp/house/scripts/layers" --quiet
plan
