#!/bin/bash
# needs: nvrtc
# Every import of every NVRTC at hand: one that is not known to be harmless, and that we have no watcher for, would make
# its release go uncached. `make matrix` asks the same of every release that can be had, for x86-64 and aarch64.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1

scripts/census >"$tmp/census" 2>&1
while IFS= read -r line; do
	case $line in
	*'NOT WATCHABLE'*) echo "$line" >"$tmp/line" && not_ok "${line%%:*} could be watched." "$tmp/line" ;;
	*' imports, '*) ok "${line%%:*} could be watched." ;;
	*) echo "$line" >"$tmp/line" && not_ok "Every NVRTC at hand can be read." "$tmp/line" ;;
	esac
done <"$tmp/census"

# The table as it is, and libraries that import what is in it.
cat >"$tmp/lib.c" <<-'END'
	#include <stddef.h>
	int glob(const char *, int, void *, void *);
	int found(void);
	int found(void) { return glob("*", 0, NULL, NULL); }
END
if cc -shared -fPIC -o "$tmp/forbidden.so" "$tmp/lib.c" >"$tmp/cc" 2>&1; then
	code=0
	scripts/census "$tmp/forbidden.so" >"$tmp/census" 2>&1 || code=$?
	if [ "$code" = 1 ] && grep -q 'NOT WATCHABLE: glob$' "$tmp/census"; then
		ok "A library that could not be watched is told, with what it imports."
	else
		not_ok "A library that could not be watched is told, with what it imports." "$tmp/census"
	fi
	unwatched='1 libraries import 0 of [0-9]* watched functions; not:.* getenv '
	if scripts/census --unused "$tmp/forbidden.so" >"$tmp/census" 2>&1 && grep -q "$unwatched" "$tmp/census"; then
		ok "What is watched and not imported is named."
	else
		not_ok "What is watched and not imported is named." "$tmp/census"
	fi
else
	skip "A library that could not be watched is told, with what it imports." "no compiler for it: $(tail -1 "$tmp/cc")"
fi
plan
