#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# timeout: 900
# weight: 40
# The library beside what else may be in a process, each pair in each order: another copy of it, another version, the
# runtime of a sanitizer, an allocator, what redirects paths or clocks, an injected profiler, an auditor of the loader.
# Each host runs beside the other one alone, then with the library, cold and warm: the same output and exit status, and
# the second process compiles nothing (beside libfaketime only what depends on no file: docs/LIMITS.md).
. "$(dirname "$0")/lib.sh"
runs_here python3 || skip_all "not of this machine"
top=$(cd "$(dirname "$0")/../.." && pwd)
SOURCE=$top/tests/fixtures
PAIRS=$BUILD/tests/fixtures/pairs
so13=$FAKE/13/libnvrtc.so.13
mkdir "$tmp/copy"
cp "$LIBRARY" "$tmp/copy/libnvrtccache.so"
# of hosts that were not built for it
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 PYTHONDONTWRITEBYTECODE=1

find_library() { # FILE... : the first that is there
	local file
	for file in "$@"; do
		case $file in
		/*) [ ! -e "$file" ] || { echo "$file" && return; } ;;
		*) ldconfig -p 2>/dev/null | sed -n "s|.*$file .*=> ||p" | head -n 1 | grep . && return ;;
		esac
	done
	return 1
}
triplet=$(cc -print-multiarch 2>/dev/null)
other_of() { # NAME: its path, or nothing
	case $1 in
	copy) echo "$tmp/copy/libnvrtccache.so" ;;
	version) echo "$BUILD/tests/fixtures/copies/later/libnvrtccache.so" ;;
	asan) find_library "$(cc -print-file-name=libasan.so 2>/dev/null)" ;;
	ubsan) find_library "$(cc -print-file-name=libubsan.so 2>/dev/null)" ;;
	jemalloc) find_library libjemalloc.so.2 ;;
	segfault) find_library libSegFault.so "/usr/lib/$triplet/libSegFault.so" ;;
	fakechroot) find_library "/usr/lib/$triplet/fakechroot/libfakechroot.so" libfakechroot.so ;;
	faketime) find_library "/usr/lib/$triplet/faketime/libfaketime.so.1" libfaketime.so.1 ;;
	torsocks) find_library "/usr/lib/$triplet/torsocks/libtorsocks.so" ;;
	injector) echo "$PAIRS/injector.so" ;;
	auditor) echo "$PAIRS/auditor.so" ;;
	esac
}

hosts=(linked lookup ctypes)
if env=$("$top/scripts/nvrtc-env" 2>/dev/null) && eval "$env" && [ -x "$BUILD/apps/saxpy" ] && [ -x "$BUILD/apps/dynamic" ]; then
	hosts+=(saxpy dynamic ctypes_app)
fi
run_host() { # NAME OUTPUT [VARIABLE=VALUE...]
	local name=$1 out=$2 path=$FAKE/13 # the sanitizers' dlopen does not keep its caller's RUNPATH
	local -a program
	shift 2
	case $name in
	linked) program=("$LOADER/linked") ;;
	lookup) program=("$LOADER/lookup" handle "$so13") ;;
	ctypes) program=(python3 "$SOURCE/loader/client.py" "$so13") ;;
	ctypes_app) path=$RUN_PATH program=(python3 "$top/tests/apps/ctypes_app.py") ;;
	*) path=$RUN_PATH program=("$BUILD/apps/$name") ;;
	esac
	[ "$name" != saxpy ] || [ -n "${CUDA_DRIVER:-}" ] || path=$path:$BUILD/apps/stub
	timeout 300 env "LD_LIBRARY_PATH=$path" "$@" "${program[@]}" >"$out" 2>&1 </dev/null
	echo "exit status $?" >>"$out"
	# these two say how often the fake NVRTC has worked, and that another runtime comes late
	sed -i '/^compiles /d; /ASan runtime does not come first/d' "$out"
}

same() { # HOST, variables of the other one alone, variables with the library
	local host=$1 run
	local -a alone with
	IFS=' ' read -r -a alone <<<"$2"
	IFS='|' read -r -a with <<<"$3"
	fresh_cache
	run_host "$host" "$tmp/plain"
	run_host "$host" "$tmp/alone" ${alone[@]+"${alone[@]}"}
	for run in cold warm; do
		run_host "$host" "$tmp/$run" "${with[@]}"
		diff "$tmp/alone" "$tmp/$run" || { echo "differs: $run" && return 1; }
		[ "$run" = warm ] || local misses
		[ "$run" = warm ] || misses=$(stat_of misses)
	done
	diff "$tmp/plain" "$tmp/warm" || { echo "differs from the plain run" && return 1; }
	"$COMMAND" stats
	[ "$misses" -gt 0 ] && { [ -n "$redirects" ] || { [ "$(stat_of misses)" = "$misses" ] && [ "$(stat_of hits_disk)" -gt 0 ]; }; }
}

pair() { # SENTENCE HOST ALONE WITH
	check "$1 ($2)" same "$2" "$3" "$4"
}
redirects='' # set where results that depend on files are not served
for name in copy version asan ubsan jemalloc segfault fakechroot faketime torsocks injector auditor; do
	other=$(other_of "$name")
	if [ ! -e "$other" ]; then
		skip "Beside $name, every host is the same, and cached." "there is none here; scripts/setup --test installs it where it is a package"
		continue
	fi
	[ $name = faketime ] && redirects=yes || redirects=''
	for host in "${hosts[@]}"; do
		case $name in
		copy | version)
			pair "Before $name, the same and cached." "$host" "" "LD_PRELOAD=$LIBRARY $other"
			pair "Behind $name, the same and cached." "$host" "" "LD_PRELOAD=$other $LIBRARY"
			;;
		auditor) pair "With $name, the same and cached." "$host" "LD_AUDIT=$other" "LD_AUDIT=$other|LD_PRELOAD=$LIBRARY" ;;
		*)
			pair "Before $name, the same and cached." "$host" "LD_PRELOAD=$other" "LD_PRELOAD=$LIBRARY $other"
			case $host in
			saxpy | dynamic | ctypes_app) ;; # seconds, and nothing that the small ones do not show
			*) pair "Behind $name, the same and cached." "$host" "LD_PRELOAD=$other" "LD_PRELOAD=$other $LIBRARY" ;;
			esac
			;;
		esac
	done
done
plan
