#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whatever has become of the cache directory, --json prints JSON: what the command shows, or nothing and a failure.
. "$(dirname "$0")/lib.sh"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is
preloaded "$LOADER/lookup" handle "$FAKE/13/libnvrtc.so.13" >"$tmp/said" 2>&1 && preloaded "$LOADER/lookup" handle "$FAKE/13/libnvrtc.so.13" \
	>"$tmp/said" 2>&1 && [ "$(entries)" -gt 1 ] || { cat "$tmp/said" && exit 1; }
mkdir "$tmp/work"
python3 "$(dirname "$0")/hostile_json.py" "$BUILD" "$NVRTCCACHE_DIR" "$tmp/work"
