#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What README, docs/RECIPES.md and the manual say is so: each command that is shown with its output is run and prints that;
# options, variables and files are all there, and no others.
#
# Examples run in a world of their own: ~/add with a program that compiles, its header and a cache. What stands there of
# a machine is not compared; `plain` has the rules. A command that is shown without output must be understood.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
manual=$top/docs/nvrtccache.1
NVRTC=$FAKE/13/libnvrtc.so.13
command -v python3 >/dev/null || skip_all "no python3"
unset XDG_CACHE_HOME CUDA_HOME CUDA_PATH LD_LIBRARY_PATH NVRTCCACHE_DIR
documents() { python3 "$here/documents.py" "$@"; }
mapfile -t verbs < <("$COMMAND" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')

# ---- words

options_of() { "$COMMAND" "$1" --help | sed -nE '/^Options:/,/^$/s/^  (-.,|   ) (--[a-z-]+).*/\2/p' | grep -vx -- --help; }
# lines of the first file that are not in the second
missing() { sort -u "$1" >"$tmp/a" && sort -u "$2" >"$tmp/b" && comm -23 "$tmp/a" "$tmp/b" >"$tmp/missing" && cat "$tmp/missing" && [ ! -s "$tmp/missing" ]; }

not_in() { ! grep -nE -- "$@"; }
documents options "$manual" >"$tmp/options"
documents synopsis "$manual" >"$tmp/synopsis"
options_agree() {
	options_of "$1" >"$tmp/help"
	sed -n "s/^$1 \(--[a-z-]*\) .*/\1/p" "$tmp/options" >"$tmp/named"
	{ sed -n "s/^$1 \(--[a-z-]*\) tag/\1/p" "$tmp/options" && sed -n "s/^$1 \(--[a-z-]*\)/\1/p" "$tmp/synopsis"; } >"$tmp/given"
	grep -qx "$1" "$tmp/synopsis" || { echo "not in the synopsis" && return 1; }
	grep -qx "\.SS $1" "$manual" || { echo "no section" && return 1; }
	missing "$tmp/help" "$tmp/named" || { echo "... these the manual does not have" && return 1; }
	missing "$tmp/given" "$tmp/help" || { echo "... these are in the manual alone" && return 1; }
}
# After .RS a paragraph looks as if it belonged to the option above it.
check "No paragraph of a manual is indented like an option's text." not_in '^\.RS' "$manual" "$top/docs/nvrtccache-agent.1"
for verb in "${verbs[@]}"; do
	check "The manual has a section of $verb and each of its options, and no others." options_agree "$verb"
done
only_verbs() { sed -n 's/^\([a-z]*\)$/\1/p' "$tmp/synopsis" >"$tmp/named" && printf '%s\n' "${verbs[@]}" >"$tmp/all" && missing "$tmp/named" "$tmp/all"; }
check "The synopsis has no command that is not there." only_verbs

agent_agrees() {
	"$BUILD/nvrtccache-agent" --help | sed -nE 's/^  (--[a-z0-9-]+).*/\1/p' >"$tmp/help"
	sed -nE 's/\\-/-/g; s/^\.B (--[a-z0-9-]+).*/\1/p' "$top/docs/nvrtccache-agent.1" | sort -u >"$tmp/named"
	[ "$(wc -l <"$tmp/help")" -ge 12 ] && missing "$tmp/help" "$tmp/named" && missing "$tmp/named" "$tmp/help"
}
needs "no agent: its libraries are not here" [ -x "$BUILD/nvrtccache-agent" ]
check_there "The agent's manual has each of its options, and no others." agent_agrees

# It shows how its figures were made.
scripts_know() { # DOCUMENT
	local words program option bad=0
	while read -r -a words; do
		program=${words[0]}
		[ -x "$top/$program" ] || { echo "no $program" && bad=1 && continue; }
		for option in "${words[@]:1}"; do
			[[ $option != --* ]] || grep -qF -- "\"$option\"" "$top/$program" || { echo "$program has no $option" && bad=1; }
		done
	done < <(grep -oE '`(scripts|tests)/[a-z/]+(\.py)? [^`]*`' "$1" | tr -d '`')
	[ "$bad" = 0 ]
}
check "FLEET.md names programs of the tree, and options that they have." scripts_know "$top/docs/FLEET.md"

variables_agree() { # DOCUMENT PATTERN-OF-OTHERS
	grep -oE '"NVRTCCACHE_[A-Z_]+"' "$top/cache/settings.h" | tr -d '"' | grep -vE 'NVRTCCACHE_(LIBRARY|TOOLKIT|MIRRORS)?$' >"$tmp/settings"
	[ "$(wc -l <"$tmp/settings")" -ge 10 ] || { echo "cannot read cache/settings.h" && return 1; }
	documents variables "$1" | grep -vxE "$2" >"$tmp/said"
	missing "$tmp/settings" "$tmp/said" && { "$COMMAND" help environment && "$COMMAND" config; } >"$tmp/shown" 2>&1 || return
	grep -oE 'NVRTCCACHE_[A-Z_]+' "$tmp/shown" | cat - "$tmp/settings" >"$tmp/known" && missing "$tmp/said" "$tmp/known"
}
known_variables() { # those of the README are some of the manual's
	documents variables "$top/README.md" >"$tmp/said" && documents variables "$manual" >"$tmp/known" && [ -s "$tmp/said" ] && missing "$tmp/said" "$tmp/known"
}
check "README has a row for no variable that the manual does not have." known_variables
check "The manual has a paragraph for each variable, and for no other." variables_agree "$manual" NVRTCCACHE_LIBRARY

check "Each header begins with its name and with what it is." "$top/scripts/nouns"
nothing_missing() { (cd "$top" && documents missing) >"$tmp/missing" && cat "$tmp/missing" && [ ! -s "$tmp/missing" ]; }
check "Each file, function, test and target of make that a document names is there." nothing_missing

# ---- examples

# What of an output is of the machine, of the moment or of the compiler. Numbers of one or two digits are facts.
plain() {
	sed -E 's#(^|[ (=:'"'"'])(/[^ /:]+)+/#\1#g
		s/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}/DATE/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}\b/DATE/g; s/\b[0-9]{2}:[0-9]{2}:[0-9]{2}\b/CLOCK/g
		s/\b[0-9]+(\.[0-9]+)? (bytes?|[KMGT]i?B)\b/SIZE/g
		s/\b[0-9]+(\.[0-9]+)? ?(ns|us|ms|s|min|h|d|days|hours)\b( (ago|earlier|later))?/TIME/g; s/\b(just )?now$/TIME/
		s/\bpid [0-9]+/pid N/g; s/\b[0-9a-f]{6,64}(\.\.\.|…)?/KEY/g; s/\b(NVRTC|nvJitLink|libNVVM) [0-9][0-9.]*( or later)?/\1 RELEASE/g
		s/\bpython3\.[0-9]+/python3/g; s/[0-9][0-9,]*\.?[0-9]* ?%/PERCENT/g; s/\b[0-9,]+ events?\b/N events/g; s/\b[0-9,]+ (entries|results)\b/N \1/g; s/\b[0-9][0-9,]{2,}(\.[0-9]+)?\b/N/g
		s/^(ok|warn) +((local|network) file system.*|file system in memory.*)/FILE SYSTEM/; s/^(ok|warn) +(SIZE free.*)/\2/
		# the compiler of the tests has lowered names of its own, and asks for three paths more than NVRTC
		s/\b_Z[0-9A-Za-z_]+/LOWERED/g; s/\bon [0-9]+ paths/on N paths/; /^ +unchanged +(\. +a directory|__nv_[^ ]* +did not exist)$/d
		s/[[:blank:]]+/ /g; s/ $//'
}
# Fresh; the present directory is ~/add. Nothing is in the cache yet.
world() {
	cd "$tmp" && rm -rf "$tmp/world" && mkdir -p "$tmp/world/home/me/add/inc" "$tmp/world/bin" || return
	export HOME=$tmp/world/home/me
	cd "$HOME/add" || return
	cp "$LOADER/linked" simulate
	printf '#define TWICE(x) ((x) + (x))\n' >inc/vec.h
	printf '#include "vec.h"\ntemplate <typename T> __global__ void add(T *x, const T *y) { x[0] = TWICE(y[N]); }\n' >add.cu
	cat >train.py <<-END
		import ctypes, sys
		nvrtc = ctypes.CDLL("$NVRTC")
		options = [option.encode() for option in sys.argv[1:] or ["-Iinc", "-DN=4", "-arch=sm_80"]]
		program = ctypes.c_void_p()
		source = open("add.cu", "rb").read()
		assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"add.cu", 0, None, None) == 0
		assert nvrtc.nvrtcAddNameExpression(program, b"add<float>") == 0
		sys.exit(nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)))
	END
	sleep 0.1 # a header as new as the compile would not be cached
}
train() { preloaded python3 train.py "$@"; }
newest() { find "$HOME/.cache/nvrtccache/v1" -type f -path '*/v1/??/*' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2; }

# What an example of a verb begins with.
before_show() {
	train && sleep 0.01 && touch vec.h && echo '#define TWICE(x) (2 * (x))' >inc/vec.h
}
before_extract() { train; }
before_verify() {
	local n file
	for n in 1 2 3 4 5; do train -Iinc "-DN=$n" -arch=sm_80 || return; done
	file=$(newest) && printf 'X' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 9)) conv=notrunc 2>/dev/null
}
before_doctor() { mkdir -p "$HOME/.cache/nvrtccache" && chmod 700 "$HOME/.cache/nvrtccache"; }
before_run() { :; }
before_env() { :; }
before_report() { :; }
before_explain() { train && train -Iinc -DN=8 -arch=sm_80; }
before_ls() { train && train; }
before_stats() { # a hit, a result that is not cached, two calls that are bypassed
	train && train && ! train -Iinc -DN=4 --no-such-option && NVRTCCACHE_DISABLE=1 train && NVRTCCACHE_DISABLE=1 train
}
before_prune() {
	local n
	for n in 1 2 3 4 5 6; do train -Iinc "-DN=$n" -arch=sm_80 || return; done
	half=$((($(stat -c '%b*%B' "$HOME"/.cache/nvrtccache/v1/??/* | paste -sd+)) / 2)) # of which there is less here than in the example
}
before_clear() { before_ls; }
before_warm() { NVRTCCACHE_RECORD=1 train; }
before_export() { before_ls; }
before_import() { train && "$COMMAND" export kernels.nvb >/dev/null && "$COMMAND" clear >/dev/null; }
before_config() { :; }
before_version() { :; }
before_help() { :; }

example() { # DIRECTORY
	local number line verb key ready=' ' bad=0
	world || return
	for ((number = 1; ; number++)); do
		[ -e "$1/command-$number" ] || break
		line=$(<"$1/command-$number")
		if [[ $line =~ (^|[ =/])nvrtccache\ ([a-z]+) ]]; then
			verb=${BASH_REMATCH[2]}
			[ "$(type -t "before_$verb")" = function ] || { echo "no world for examples of $verb: before_$verb" && return 1; }
			[[ $ready == *" $verb "* ]] || "before_$verb" || { echo "before_$verb failed" && return 1; }
			ready+="$verb "
		fi
		key=$(newest 2>/dev/null) key=${key#*/v1/} key=${key/\//}
		line=$(sed -E "s/(^| )[0-9a-f]{8}( |\$)/\1${key:0:8}\2/g; s#/usr/local/lib/libnvrtccache\.so#$LIBRARY#g; s#--max-size 120M#--max-size ${half:-0}#" <<<"$line")
		timeout 300 env PATH="$(dirname "$COMMAND"):$PATH" LD_LIBRARY_PATH="$FAKE/13" bash -c "$line"$'\n''exit "${PIPESTATUS[0]}"' >"$tmp/printed" 2>&1 </dev/null
		case $? in
		2 | 12[4-7]) echo "not understood: $line" && cat "$tmp/printed" && bad=1 ;;
		esac
		[ -s "$1/shown-$number" ] || continue
		# the program that doctor runs has its own words, which nobody shows
		case $line in *"nvrtccache doctor -- "*) sed -i -nE '/^(ok|warn|FAIL) /p' "$tmp/printed" ;; esac
		plain <"$1/shown-$number" >"$tmp/shown.plain" && plain <"$tmp/printed" >"$tmp/printed.plain"
		diff "$tmp/shown.plain" "$tmp/printed.plain" >"$tmp/diff" || { echo "shown (<) and printed (>): $line" && cat "$tmp/diff" && bad=1; }
	done
	cd "$tmp" || return
	return "$bad"
}
pages=("$top/README.md" "$manual")
[ ! -e "$top/docs/RECIPES.md" ] || pages+=("$top/docs/RECIPES.md")
has_example() { grep -qE "(^|[ =])nvrtccache $1( |\$)" "$tmp"/examples/*/command-*; }
count=$(documents examples "$tmp/examples" "${pages[@]}") || exit 1
[ "$count" -ge 4 ] && ok "The documents have examples with their output." || not_ok "The documents have examples with their output."
for verb in "${verbs[@]}"; do
	case $verb in
	clear | export | import | config | version | help) ;; # what they print is a sentence, or in the table of variables
	*) check "There is an example of $verb." has_example "$verb" ;;
	esac
done
if [ -e "$NVRTC" ] && [ -x "$LOADER/linked" ]; then
	for ((i = 1; i <= count; i++)); do
		check "$(<"$tmp/examples/$i/where"): what is shown is what is printed." example "$tmp/examples/$i"
	done
else
	skip "What is shown is what is printed." "no fake NVRTC in $BUILD"
fi
rules() {
	plain >"$tmp/plain" <<-'END'
		key 3c074c79c7198298ec220c07b86d83a822174ffc814b62b04a2a4bc959f3f23d of /home/me/.cache/nvrtccache
		made 2026-11-22 15:29:56 in 388.2 ms, 5 s ago, 5.5 KiB, 12 paths, -DN=8
	END
	diff - "$tmp/plain" <<-'END'
		key KEY of nvrtccache
		made DATE in TIME, TIME, SIZE, 12 paths, -DN=8
	END
}
check "Of an output, small numbers and words are compared." rules
plan
