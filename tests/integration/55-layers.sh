#!/bin/bash
# needs: nvrtc
# Read-only caches below the directory, and the time line.
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "$1" && pwd)
eval "$(scripts/nvrtc-env)" || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/nvrtccache-layers.XXXXXX") || exit 1
trap 'chmod -R u+rwX "$work"; rm -rf "$work"' EXIT
host() { # VARIABLE=VALUE...
	env LD_PRELOAD="$build/libnvrtccache.so" "$@" "$build/tests/life" "$NVRTC_LIB/$NVRTC_SONAME" trivial 1 -arch=sm_90 >/dev/null
}
count() { # directory counter
	NVRTCCACHE_DIR=$1 "$build/nvrtccache" stats --json | sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p" | tail -n 1
}
files() { find "$1" -type f -path '*/v1/??/*' 2>/dev/null | wc -l; }
number=0 bad=0
check() { # condition sentence
	number=$((number + 1))
	if [ "$1" = 0 ]; then echo "ok $number - $2"; else echo "not ok $number - $2"; bad=1; fi
}
host NVRTCCACHE_DIR="$work/base"
check "$([ "$(files "$work/base")" = 1 ]; echo $?)" "A cache is filled."
find "$work/base" | sort >"$work/before"
host NVRTCCACHE_DIR="$work/top" NVRTCCACHE_LOWER="$work/nowhere:$work/base" NVRTCCACHE_TRACE="$work/events.json"
check "$([ "$(count "$work/top" hits_disk)" = 1 ] && [ "$(count "$work/top" hits_memory)" = 1 ]; echo $?)" \
	"A cache below the directory is searched, and what it has is then in memory."
check "$([ "$(files "$work/top")" = 0 ]; echo $?)" "What a lower cache has is not copied to the directory."
find "$work/base" | sort >"$work/after"
check "$(cmp -s "$work/before" "$work/after"; echo $?)" "A lower cache is never written."
check "$(python3 - "$work/events.json" <<'PY'
import json, sys
events = [event for event in json.loads(open(sys.argv[1]).read().rstrip(",\n") + "]") if event["ph"] == "X"]
outcomes = [event["cat"] for event in events]
print(0 if outcomes == ["hit_disk", "hit_memory"] and all(e["dur"] >= 0 for e in events) else 1)
PY
)" "The time line is JSON and tells how each compile ended."
entry=$(find "$work/base" -type f -path '*/v1/??/*' | head -n 1)
printf 'x' | dd of="$entry" bs=1 seek=300 conv=notrunc status=none
host NVRTCCACHE_DIR="$work/top" NVRTCCACHE_LOWER="$work/base"
check "$([ "$(files "$work/top")" = 1 ] && [ -e "$entry" ]; echo $?)" \
	"Damage in a lower cache is a miss, and the damaged file is left alone."
rm -rf "$work/base"
host NVRTCCACHE_DIR="$work/top" NVRTCCACHE_LOWER="$work/base"
check "$([ "$(count "$work/top" misses)" = 1 ]; echo $?)" "A lower cache may disappear."
echo "1..$number"
exit "$bad"
