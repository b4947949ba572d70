#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The nvrtccache command: what it prints, where it says it, and how it exits.
# shellcheck disable=SC2317,SC2015,SC2016,SC2089,SC2090,SC2097,SC2098 # functions are called by check; text is for inner shells
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=command.sh
. "$(dirname "$0")/command.sh"
unset XDG_CACHE_HOME
export HOME=$tmp/home
mkdir "$HOME"

# Puts files where entries lie: NUMBER, each of 1000 bytes.
plant() {
	local i shard
	mkdir -p "$NVRTCCACHE_DIR" "$NVRTCCACHE_DIR/v1"
	for ((i = 0; i < $1; i++)); do
		shard=$(printf '%s/v1/%02x' "$NVRTCCACHE_DIR" $((i * 5 % 256)))
		mkdir -p "$shard"
		head -c 1000 /dev/zero >"$shard/$(printf '%062x' "$i")"
	done
	chmod -R go-rwx "$NVRTCCACHE_DIR"
}

overview_names_every_command() {
	gives 0 help && silent_err || return
	for name in run stats ls prune clear export import config version help; do out_has "^  $name +[a-z]" || return; done
	cp "$tmp/out" "$tmp/overview"
	gives 0 --help && cmp "$tmp/out" "$tmp/overview" && gives 0 -h && cmp "$tmp/out" "$tmp/overview"
}
check "The overview names every command." overview_names_every_command
help_names_variables() {
	gives 0 help environment && silent_err || return
	for name in DIR MAX_SIZE LOG STATS LIBRARY; do out_has "^NVRTCCACHE_$name +[a-z]" || return; done
}
check "help environment names the variables." help_names_variables
run_warns() {
	NVRTCCACHE_DISBLE=1 gives 0 run -- true && err_has "NVRTCCACHE_DISBLE.*NVRTCCACHE_DISABLE" && gives 0 run -- true && silent_err
}
check "run warns of a variable that is misspelled, and of no other." run_warns

every_command_has_help() {
	for name in run stats ls prune clear export import config help; do
		gives 0 "$name" --help && silent_err && out_has "^usage: nvrtccache $name" || return
		cp "$tmp/out" "$tmp/direct"
		gives 0 help "$name" && cmp "$tmp/out" "$tmp/direct" || return
	done
}
check "Every command explains itself, asked in either way." every_command_has_help

version_is_one_line() {
	for name in --version -V version; do
		gives 0 "$name" && silent_err && cp "$tmp/out" "$tmp/version-$name" || return
	done
	cmp "$tmp/version--V" "$tmp/version---version" && cmp "$tmp/version--V" "$tmp/version-version" && silent_err && [ "$(wc -l <"$tmp/out")" -eq 1 ] && out_has '^nvrtccache [0-9]+\.[0-9]+\.[0-9]+$'
}
check "--version, -V and version print the name and three numbers." version_is_one_line

no_command() { gives 2 && [ ! -s "$tmp/out" ] && err_has 'no command'; }
check "Without a command it says so on stderr and exits with 2." no_command

bad_words() {
	gives 2 bogus && [ ! -s "$tmp/out" ] && err_has 'bogus: unknown command$' &&
		gives 2 --bogus && err_has 'nvrtccache: --bogus: unknown option$' &&
		gives 2 help bogus && err_has 'bogus: unknown command$' &&
		gives 2 help stats clear && err_has 'help: clear: unexpected argument' || return
	for name in run stats ls prune clear export import config; do
		gives 2 "$name" --bogus && [ ! -s "$tmp/out" ] && err_has "$name: --bogus: unknown option" || return
	done
	for name in stats ls clear config; do
		gives 2 "$name" bogus && [ ! -s "$tmp/out" ] && err_has "$name: bogus: unexpected argument" || return
	done
}
check "Unknown commands, options and arguments are named on stderr, with exit status 2." bad_words

nearest_words() {
	gives 2 stat && err_has "stat: unknown command .did you mean 'stats'\?.$" && gives 2 lsit && err_has "did you mean 'ls'\?" && gives 2 prun && err_has "prun: unknown command .did you mean 'run' or 'prune'\?.$" &&
		gives 2 xyzzy && err_has 'xyzzy: unknown command$' && gives 2 --hlep && err_has "--hlep: unknown option .did you mean '--help'\?" &&
		gives 2 help exprot && err_has "did you mean 'export'\?" && gives 2 ls --jsno && err_has "ls: --jsno: unknown option .did you mean '--json'\?" &&
		gives 2 run --max_size=1G true && err_has "run: --max_size: unknown option .did you mean '--max-size'\?" &&
		gives 2 stats --xyzzy && err_has 'stats: --xyzzy: unknown option$' && gives 2 stats -x && err_has 'stats: -x: unknown option$' &&
		gives 2 stats --json=1 && err_has "'--json' takes no argument" &&
		gives 2 stats --json -xj && err_has 'stats: -x: unknown option$' && gives 2 prune -s && err_has "'-s' requires" &&
		gives 0 stats --js && gives 2 $'e\033[31m\302\233v\377il' && ! grep -q $'[\033\377]' "$tmp/err"
}
check "A mistyped word is answered with the closest one, and is escaped for the terminal." nearest_words

unwritten_output() {
	local words
	for words in help --version version --help config doctor "doctor --json" stats "stats --json" "ls --json" clear "help run"; do
		# shellcheck disable=SC2086 # several words
		"$COMMAND" $words >/dev/full 2>"$tmp/err"
		[ $? -eq 1 ] && err_has 'standard output: No space left' || { echo "after $words" && return 1; }
	done
}
if [ -c /dev/full ]; then
	check "Output that cannot be written is an error." unwritten_output
else
	skip "Output that cannot be written is an error." "no /dev/full"
fi

empty_stats() {
	gives 0 stats && silent_err && out_has "^Directory +$NVRTCCACHE_DIR$" && out_has '^Entries +0$' &&
		out_has '^Hits +0$' && out_has '^Not cached +0$' && out_has '^Bypassed +0$' && ! grep -q '^  too new' "$tmp/out" && [ ! -e "$NVRTCCACHE_DIR" ]
}
check "stats of a cache that is not there yet shows zeros and makes nothing." empty_stats

aligned() {
	gives 0 stats && [ "$(sed -E 's/^( *[A-Za-z]+( [a-z]+)* +).*/\1/' "$tmp/out" | awk '{ print length }' | sort -u | wc -l)" -eq 1 ]
}
check "The table of stats is aligned." aligned

json_fields() {
	gives 0 stats --json && silent_err && holds '
		all(type(told[name]) is int and told[name] == 0 for name in
			"hits_memory hits_disk misses stores compile_ns saved_ns entries bytes".split())
		and told["max_bytes"] == 5 << 30 and told["dir"] == os.environ["NVRTCCACHE_DIR"]
		and all(type(n) is int for group in ("not_kept", "bypassed", "errors") for n in told[group].values())
		and told["since"] is None and {"disabled", "too_new", "time_macros"} <= set(told["bypassed"]) & set(told["not_kept"]) and {"damaged", "mismatch"} <= set(told["errors"])'
}
if python3 -c '' 2>/dev/null; then
	check "stats --json is valid JSON with every field." json_fields

	odd_directory() {
		local NVRTCCACHE_DIR=$tmp/$'a "quote", a \\ back, a\ttab, a\nline, \x01, \x7f, \xc3\xa4, \xf0\x9f\x98\x80, not UTF-8: \xff \xc3 \xed\xa0\x80 \xc0\xaf \xf5'
		export NVRTCCACHE_DIR
		plant 2
		gives 0 stats --json && holds '
			told["dir"].encode("utf-8", "surrogateescape") == os.environb[b"NVRTCCACHE_DIR"] and told["entries"] == 2'
	}
	check "A directory of any bytes comes through the JSON unchanged." odd_directory

	fresh_cache
	plant 7
	counted() { gives 0 stats --json && holds 'told["entries"] == 7 and told["bytes"] >= 7000'; }
	check "stats counts entries and bytes." counted

	capped() { NVRTCCACHE_MAX_SIZE=2m gives 0 stats --json && holds 'told["max_bytes"] == 2 << 20'; }
	check "stats knows the cap." capped
else
	for sentence in "stats --json is valid JSON with every field." "A directory of any bytes comes through the JSON unchanged." \
		"stats counts entries and bytes." "stats knows the cap."; do
		skip "$sentence" "no python3"
	done
fi

fresh_cache
plant 7
clear_removes() {
	gives 0 clear && silent_err && out_has "^Removed 7 entries .* from $NVRTCCACHE_DIR in [0-9.]+ [a-z]+\$" && [ "$(entries)" -eq 0 ] &&
		gives 0 clear && out_has '^Removed 0 entries'
}
check "clear removes every entry and says how many." clear_removes

# The i-th planted file was used i hours ago.
age_planted() {
	local i
	for ((i = 0; i < $1; i++)); do
		touch -d "$i hours ago" "$NVRTCCACHE_DIR"/v1/??/"$(printf '%062x' "$i")"
	done
}

prune_removes() {
	fresh_cache
	plant 8
	age_planted 8
	touch -d "2 hours ago" "$NVRTCCACHE_DIR/v1/00/tmp.1.1"
	gives 0 prune && silent_err && out_has "^Removed 0 entries, 1 stale temporary file \(.* from $NVRTCCACHE_DIR in [0-9.]+ [a-z]+\$" &&
		out_has '^8 entries left, 7\.8 KiB of 5\.0 GiB$' &&
		gives 0 prune --max-size 3000 && silent_err && out_has '^Removed 5 entries \(4\.9 KiB\)' &&
		out_has '^3 entries left, 2\.9 KiB of 2\.9 KiB$' && [ "$(entries)" -eq 3 ] &&
		for i in 0 1 2; do [ -e "$NVRTCCACHE_DIR"/v1/??/"$(printf '%062x' "$i")" ] || return; done
}
check "prune removes what was used longest ago, down to the size, and stale files." prune_removes

prune_by_age() {
	fresh_cache
	plant 8
	age_planted 8
	gives 0 prune --older-than 330m && silent_err && out_has '^Removed 2 entries \(2\.0 KiB\)' && out_has '^6 entries left' &&
		gives 0 prune --older-than 4.5h --max-size 3000 && out_has '^Removed 3 entries' && out_has '^3 entries left, 2\.9 KiB of 2\.9 KiB$' &&
		gives 0 prune -o 0.2d && out_has '^Removed 0 entries' &&
		gives 0 prune --older-than 1w && out_has '^Removed 0 entries' &&
		for i in 0 1 2; do [ -e "$NVRTCCACHE_DIR"/v1/??/"$(printf '%062x' "$i")" ] || return; done &&
		gives 0 prune --older-than 0s && out_has '^Removed 3 entries' && [ "$(entries)" -eq 0 ]
}
check "prune removes what was not used for so long, and then down to the size." prune_by_age

bad_ages() {
	local age
	plant 3
	for age in 3 d 1.d .5d 1.5 -1d +1d '1 d' 1D 1dd 1y 1e3s 0x1s 99999999999w 999999999999999999999s; do
		gives 2 prune --older-than "$age" && [ ! -s "$tmp/out" ] && grep -qF "bad age '$age': it takes a number and s, m, h, d or w, such as 36h" "$tmp/err" || return
	done
	gives 2 prune --older-than && [ "$(entries)" -eq 3 ]
}
check "A bad age is refused with what would be right." bad_ages

noted_or_counted() {
	local NVRTCCACHE_DIR=$tmp/noted
	export NVRTCCACHE_DIR
	plant 5 && gives 0 stats && out_has '^Entries +5$' && gives 0 prune && rm "$NVRTCCACHE_DIR"/v1/*/*2 || return
	gives 0 stats && out_has '^Entries +5$' && gives 0 stats --count && out_has '^Entries +4$' &&
		gives 0 prune && gives 0 stats && out_has '^Entries +4$'
}
check "stats shows what the cache has noted, and with --count what is there." noted_or_counted

prune_without_cap() {
	NVRTCCACHE_MAX_SIZE=0 gives 0 prune && out_has '^3 entries left, 2\.9 KiB of no limit$' &&
		NVRTCCACHE_MAX_SIZE=0 gives 0 stats && out_has '^Size +2\.9 KiB of no limit$' &&
		NVRTCCACHE_MAX_SIZE=2000 gives 0 prune && out_has '^Removed 1 entry' && [ "$(entries)" -eq 2 ]
}
check "prune and stats know a cache without a cap." prune_without_cap

prune_refuses() {
	gives 2 prune --max-size much && err_has "bad size 'much'.*1\.5G, with K, M, G or T" && gives 2 prune now &&
		NVRTCCACHE_READONLY=1 gives 1 prune --max-size 1 && err_has NVRTCCACHE_READONLY && [ "$(entries)" -eq 2 ] || return
	fresh_cache
	gives 0 prune && out_has '^Removed 0 entries' && [ ! -e "$NVRTCCACHE_DIR" ]
}
check "prune refuses what it cannot do, and makes no directory." prune_refuses

clear_read_only() {
	fresh_cache
	plant 3
	NVRTCCACHE_READONLY=1 gives 1 clear && err_has 'NVRTCCACHE_READONLY' && [ "$(entries)" -eq 3 ]
}
check "clear leaves a read-only cache alone and says why." clear_read_only

untrusted() {
	fresh_cache
	plant 3
	chmod 777 "$NVRTCCACHE_DIR"
	gives 1 stats && err_has 'others can write' && gives 1 clear && [ "$(entries)" -eq 3 ]
}
check "A directory that others can write is neither read nor cleared." untrusted

no_directory() {
	unset NVRTCCACHE_DIR
	HOME='' gives 1 stats && err_has 'no cache directory' && HOME=relative gives 1 clear && err_has 'no cache directory' &&
		HOME='' gives 0 config && out_has 'NVRTCCACHE_DIR +\(none\)$'
}
check "Without any directory it says which variables it looked at." no_directory
fresh_cache

shows_config() {
	NVRTCCACHE_MAX_SIZE=1536m NVRTCCACHE_WAIT=7 NVRTCCACHE_VERIFY=on NVRTCCACHE_LOG_LEVEL=4 gives 0 config && silent_err &&
		out_has '^environment NVRTCCACHE_MAX_SIZE +1536M$' && out_has '^environment NVRTCCACHE_WAIT +7$' &&
		out_has '^environment NVRTCCACHE_VERIFY +yes$' && out_has '^environment NVRTCCACHE_LOG_LEVEL +debug$' &&
		out_has "^environment NVRTCCACHE_DIR +$NVRTCCACHE_DIR\$" && out_has '^default +NVRTCCACHE_MEM_SIZE +64M$'
}
check "config shows each setting and where it comes from." shows_config
config_json() {
	NVRTCCACHE_WAIT=7 gives 0 config --json && silent_err && holds '
		told["NVRTCCACHE_WAIT"] == {"from": "environment", "value": "7"} and told["NVRTCCACHE_LOG"] == {"from": "default", "value": None}'
}
check "config --json says so to machines." config_json

# Whatever it says of one variable: what is shown without any is in effect.
refused() { # VARIABLE VALUE WHAT-IT-TAKES
	env "$1=$2" "$COMMAND" config >"$tmp/out" 2>"$tmp/err" && err_has "$1: bad value '$2' is ignored: it takes $3" &&
		diff <(env -u "$1" "$COMMAND" config) "$tmp/out"
}
bad_config() {
	refused NVRTCCACHE_MAX_SIZE 1.5X 'a size such as .*1\.5G, with K, M, G or T' && refused NVRTCCACHE_MEM_SIZE 1.5 'a size' &&
		refused NVRTCCACHE_DIR relative 'an absolute path' && refused NVRTCCACHE_LOWER /a:b 'absolute paths' &&
		refused NVRTCCACHE_WAIT 1s 'whole seconds' && refused NVRTCCACHE_LOG_LEVEL loud 'error, warning, info or debug' &&
		refused NVRTCCACHE_SLOPPINESS foo 'the words time_macros and debug_paths' && refused NVRTCCACHE_SLOPPINESS time_macros,foo 'the words' || return
	for name in DISABLE READONLY RECACHE VERIFY SHARED FSYNC STATS; do refused "NVRTCCACHE_$name" perhaps '1 or 0' || return; done
}
check "A bad value is named with what would be right, and what is shown is in effect." bad_config

unknown_variables() {
	local verb
	for verb in config stats ls; do
		NVRTCCACHE_MAXSIZE=1G NVRTCCACHE_LIBRARY=/l gives 0 "$verb" && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
			err_has '^nvrtccache: NVRTCCACHE_MAXSIZE: unknown variable .did you mean .NVRTCCACHE_MAX_SIZE.\?.$' || return
	done
	NVRTCCACHE_XYZZY=1 gives 0 config && err_has '^nvrtccache: NVRTCCACHE_XYZZY: unknown variable$' &&
		NVRTCCACHE_LOGS='' gives 0 config && silent_err
}
check "An unknown NVRTCCACHE_ variable is reported with the closest known one." unknown_variables

# What settings name and nobody can use; nothing is made meanwhile.
places_of_settings() {
	mkdir -p "$tmp/open" "$tmp/good" && chmod 777 "$tmp/open" && : >"$tmp/good/file" || return
	NVRTCCACHE_LOWER=$tmp/nowhere:$tmp/open::$tmp/good gives 0 config && err_has "NVRTCCACHE_LOWER: '$tmp/nowhere' cannot be used: No such" &&
		err_has "NVRTCCACHE_LOWER: '$tmp/open' cannot be used: not used, because others can write" && [ "$(grep -c LOWER "$tmp/err")" -eq 3 ] || return
	for name in LOG TRACE; do
		env "NVRTCCACHE_$name=$tmp/nowhere/file" "$COMMAND" config >"$tmp/out" 2>"$tmp/err" && err_has "NVRTCCACHE_$name: '$tmp/nowhere/file' cannot be used: No such" &&
			env "NVRTCCACHE_$name=$tmp/good" "$COMMAND" config >"$tmp/out" 2>"$tmp/err" && err_has "NVRTCCACHE_$name: .* Is a directory" &&
			env "NVRTCCACHE_$name=$tmp/good/new" "$COMMAND" config >"$tmp/out" 2>"$tmp/err" && silent_err && [ ! -e "$tmp/good/new" ] &&
			env "NVRTCCACHE_$name=$tmp/good/file" "$COMMAND" config >"$tmp/out" 2>"$tmp/err" && silent_err || return
	done
	NVRTCCACHE_LOG=stderr gives 0 config && silent_err && NVRTCCACHE_DIR=/dev/null/x gives 0 config &&
		err_has "NVRTCCACHE_DIR: '/dev/null/x' cannot be used: Not a directory"
}
check "config says which files and directories of the settings cannot be used, and why." places_of_settings

impossible_directory() {
	local verb
	NVRTCCACHE_DIR=/proc/x gives 1 stats --json && out_has '^ *"error": "/proc/x: cannot be created' || return
	for verb in stats ls prune clear "export $tmp/bundle"; do
		# shellcheck disable=SC2086 # several words
		NVRTCCACHE_DIR=/proc/x gives 1 $verb && [ ! -s "$tmp/out" ] && err_has '^nvrtccache: /proc/x: cannot be created: (.*kernel|Permission denied)' || return
		# shellcheck disable=SC2086
		NVRTCCACHE_DIR=/dev/null/a/b gives 1 $verb && err_has '/dev/null/a/b: .*Not a directory' || return
	done
}
check "A directory that is not there and cannot be made is an error, not an empty cache." impossible_directory

fractions() {
	NVRTCCACHE_MAX_SIZE=1.5G NVRTCCACHE_MEM_SIZE=0.5k gives 0 config && silent_err &&
		out_has '^environment NVRTCCACHE_MAX_SIZE +1536M$' && out_has '^environment NVRTCCACHE_MEM_SIZE +512$' || return
	fresh_cache
	plant 4
	gives 0 prune --max-size 2.5K && silent_err && out_has '^2 entries left, 2\.0 KiB of 2\.5 KiB$'
}
check "A size may have a fraction, in variables and arguments." fractions

default_directory() {
	unset NVRTCCACHE_DIR
	gives 0 config && out_has "^default +NVRTCCACHE_DIR +$HOME/.cache/nvrtccache\$" &&
		XDG_CACHE_HOME=/x gives 0 config && out_has '^default +NVRTCCACHE_DIR +/x/nvrtccache$'
}
check "The directory defaults to one in XDG_CACHE_HOME or HOME." default_directory
fresh_cache

[ -e "$LIBRARY" ] || skip_run=1
run_check() {
	if [ -n "${skip_run:-}" ]; then
		skip "$1" "no $LIBRARY"
	else
		check "$@"
	fi
}

run_preloads() { gives 0 run -- sh -c 'echo "$LD_PRELOAD"' && [ "$(cat "$tmp/out")" = "$LIBRARY" ]; }
run_check "run preloads the library next to the command." run_preloads

run_keeps() {
	LD_PRELOAD=libm.so.6 gives 0 run sh -c 'echo "$LD_PRELOAD"' && [ "$(cat "$tmp/out")" = "$LIBRARY:libm.so.6" ]
}
run_check "run preserves existing preloads, after our library." run_keeps

run_torn() { # each size at which a segment is cut, the program headers too
	local size last offset bytes
	read -r offset bytes < <(readelf -lW "$LIBRARY" | awk '$1 == "LOAD" { last = $2 " " $5 } END { print last }')
	last=$((offset + bytes))
	mkdir -p "$tmp/torn"
	for size in 100 4096 $((last / 2)) $((last - 1)); do
		head -c "$size" "$LIBRARY" >"$tmp/torn/libnvrtccache.so"
		NVRTCCACHE_LIBRARY=$tmp/torn/libnvrtccache.so gives 125 run true && err_has 'libnvrtccache.so: the file is cut short; install it again' || return
	done
	head -c "$last" "$LIBRARY" >"$tmp/torn/libnvrtccache.so"
	NVRTCCACHE_LIBRARY=$tmp/torn/libnvrtccache.so gives 0 run true
}
check "run says that a library is cut short, and does not start the program." run_torn
run_nested() { gives 0 run "$COMMAND" run sh -c 'echo "$LD_PRELOAD"' && [ "$(cat "$tmp/out")" = "$LIBRARY" ]; }
run_check "run inside run names the library once." run_nested

run_installed() {
	mkdir -p "$tmp/prefix/bin" "$tmp/prefix/lib" && cp "$COMMAND" "$tmp/prefix/bin/" && cp "$LIBRARY" "$tmp/prefix/lib/" &&
		"$tmp/prefix/bin/nvrtccache" run sh -c 'echo "$LD_PRELOAD"' >"$tmp/out" &&
		[ "$(cat "$tmp/out")" = "$tmp/prefix/lib/libnvrtccache.so" ]
}
run_check "run finds the library in ../lib when installed." run_installed
run_multiarch() {
	local place
	place=$tmp/multiarch/lib/$(uname -m)-linux-gnu
	mkdir -p "$tmp/multiarch/bin" "$place" && cp "$COMMAND" "$tmp/multiarch/bin/" && cp "$LIBRARY" "$place/" &&
		"$tmp/multiarch/bin/nvrtccache" run sh -c 'echo "$LD_PRELOAD"' >"$tmp/out" && [ "$(cat "$tmp/out")" = "$place/libnvrtccache.so" ]
}
run_check "run finds the library in the machine's directory below that, as on Debian." run_multiarch

run_chosen() {
	cp "$LIBRARY" "$tmp/mine.so" && NVRTCCACHE_LIBRARY=$tmp/mine.so gives 0 run sh -c 'echo "$LD_PRELOAD"' &&
		[ "$(cat "$tmp/out")" = "$tmp/mine.so" ]
}
run_check "NVRTCCACHE_LIBRARY says which library run takes." run_chosen

run_no_library() {
	NVRTCCACHE_LIBRARY=$tmp/nowhere.so gives 125 run echo started && [ ! -s "$tmp/out" ] && err_has "nowhere.so"
}
check "run starts nothing when the library is not there, and exits with 125." run_no_library

# What the loader would complain about, going on without.
run_no_loading() {
	local bytes
	echo 'no library' >"$tmp/text.so" && : >"$tmp/empty.so" && head -c 100 "$LIBRARY" >"$tmp/short.so" || return
	for bytes in '4 \001' '18 \377'; do # of another class, for another machine
		cp "$LIBRARY" "$tmp/other-${bytes% *}.so" &&
			printf '%b' "${bytes#* }" | dd of="$tmp/other-${bytes% *}.so" bs=1 seek="${bytes% *}" conv=notrunc status=none || return
	done
	for name in text empty short other-4 other-18; do
		NVRTCCACHE_LIBRARY=$tmp/$name.so gives 125 run echo started && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
			err_has "the library cannot be loaded: $tmp/$name.so: " || return
	done
	NVRTCCACHE_LIBRARY=$COMMAND gives 125 run echo started && [ ! -s "$tmp/out" ] && err_has 'cannot be loaded'
}
run_check "run starts nothing when the library cannot be loaded." run_no_loading

run_another_library() {
	NVRTCCACHE_LIBRARY=$FAKE/13/libnvrtc.so.13 gives 125 run echo started && [ ! -s "$tmp/out" ] && err_has 'another library'
}
if [ -e "$FAKE/13/libnvrtc.so.13" ]; then
	run_check "run starts nothing when it is another library." run_another_library
else
	skip "run starts nothing when it is another library." "no fixture"
fi

run_blank() {
	mkdir "$tmp/a b" && touch "$tmp/a b/x.so" && NVRTCCACHE_LIBRARY="$tmp/a b/x.so" gives 125 run echo started &&
		[ ! -s "$tmp/out" ] && err_has 'blank or a colon; NVRTCCACHE_LIBRARY can name a copy'
}
check "run starts nothing when the library's path cannot be preloaded." run_blank

run_sets() {
	cd "$tmp" || return
	env -u NVRTCCACHE_DIR "$COMMAND" run --dir here --max-size 10M --verify --log run.log --stats --read-only -- \
		sh -c 'env | grep ^NVRTCCACHE_ | sort' >"$tmp/out" || return
	printf '%s\n' "NVRTCCACHE_DIR=$tmp/here" "NVRTCCACHE_LOG=$tmp/run.log" NVRTCCACHE_MAX_SIZE=10M NVRTCCACHE_READONLY=1 \
		NVRTCCACHE_STATS=1 NVRTCCACHE_VERIFY=1 >"$tmp/wanted"
	diff "$tmp/wanted" "$tmp/out" && gives 0 run --log stderr --dir=/d sh -c 'echo $NVRTCCACHE_LOG $NVRTCCACHE_DIR' &&
		[ "$(cat "$tmp/out")" = "stderr /d" ]
}
run_check "run's options set the variables, with absolute paths." run_sets

run_arguments() {
	# shellcheck disable=SC2016 # for the inner shell
	gives 0 run -- sh -c 'printf "<%s>" "$@"' name --stats 'a b' '' -- && [ "$(cat "$tmp/out")" = "<--stats><a b><><-->" ]
}
run_check "run hands on the program's arguments as they are." run_arguments

armed_name() { # a directory whose name commands a terminal
	local NVRTCCACHE_DIR=$tmp/$'a\033[31m\nb' verb
	export NVRTCCACHE_DIR
	for verb in stats verify prune clear "export $tmp/armed.nvb" "import $tmp/armed.nvb" config doctor; do
		# shellcheck disable=SC2086 # several words
		gives 0 $verb && ! grep -q $'\033' "$tmp/out" "$tmp/err" && out_has 'a\?\[31m\?b' || return
	done
	gives 0 stats --json && is 'told["dir"] == os.environ["NVRTCCACHE_DIR"]' True
}
check "A directory's name cannot command a terminal." armed_name

nameless() { # what a script gives whose variable is not set
	local line
	for line in 'export' 'import' 'report -o page' 'report trace -o' 'extract aa --ptx -o' 'extract aa --all' 'show aa --from'; do
		# shellcheck disable=SC2086 # several words
		gives 2 $line '' && [ ! -s "$tmp/out" ] && err_has ': [A-Z]+ is empty$' || return
	done
}
check "A file without a name is refused, and not called a directory." nameless

run_status() {
	gives 7 run sh -c 'exit 7' && gives 127 run "$tmp/nowhere" && err_has "$tmp/nowhere: No such file" &&
		PATH=/usr/bin:/bin gives 127 run no-such-program-anywhere && err_has 'no-such-program-anywhere' &&
		gives 126 run "$tmp" && err_has "$tmp: Permission denied" || return
	echo 'no program' >"$tmp/text" && chmod 644 "$tmp/text" && gives 126 run "$tmp/text" && err_has "$tmp/text" || return
	printf '#!%s\n' "$tmp/gone/sh" >"$tmp/script" && chmod 755 "$tmp/script" && gives 126 run "$tmp/script" && err_has "script: cannot start: its interpreter '$tmp/gone/sh' is missing"
}
run_check "run exits as the program did, with 127 where there is none and 126 where it cannot be run." run_status

run_bad_values() {
	gives 2 run && err_has 'run: program is missing' && gives 2 run --stats && err_has 'program is missing' &&
		gives 2 run --max-size 5X true && err_has "'5X': it takes a size" && gives 2 run --dir '' true &&
		gives 2 run --dir && err_has 'requires an argument' && gives 2 run --verify=1 true
}
check "run without a program, or with a bad value, starts nothing and exits with 2." run_bad_values

if [ -z "${skip_run:-}" ] && [ -x "$LOADER/linked" ]; then
	unset LD_LIBRARY_PATH # the fixture knows where its NVRTC is
	fresh_cache
	counts() {
		"$COMMAND" run "$LOADER/linked" >/dev/null 2>&1 && "$COMMAND" run "$LOADER/linked" >/dev/null 2>&1
		gives 0 stats && out_has '^Hits +[1-9][0-9]* \([0-9.]+ %\)$' && out_has '^  from disk +[1-9]' &&
			out_has '^Misses +[1-9]' && out_has '^Entries +[1-9]' && out_has '^Time saved +[0-9.]+ [a-z]+$'
	}
	check "stats shows the hits, misses and entries of programs that ran." counts
	zero() {
		[ "$(stat_of misses)" -gt 0 ] && gives 0 stats --zero && out_has '^Misses +[1-9]' && [ "$(stat_of misses)" -eq 0 ] &&
			[ "$(stat_of hits_disk)" -eq 0 ] && [ "$(entries)" -gt 0 ]
	}
	check "stats --zero prints the counts, then resets them, and does not remove entries." zero
	zero_read_only() {
		"$COMMAND" run "$LOADER/linked" >/dev/null 2>&1
		NVRTCCACHE_READONLY=1 gives 1 stats --zero && err_has 'NVRTCCACHE_READONLY' && [ "$(stat_of hits_disk)" -gt 0 ]
	}
	check "stats --zero changes nothing where the cache is read-only." zero_read_only
	told_in_the_log() {
		fresh_cache
		rm -f "$tmp/log" && mkdir -p "$tmp/others" && chmod 777 "$tmp/others" || return
		NVRTCCACHE_LOG=$tmp/log NVRTCCACHE_MAXSIZE=1G NVRTCCACHE_WAIT=long NVRTCCACHE_TRACE=$tmp/nowhere/trace NVRTCCACHE_LOWER=$tmp/nowhere:$tmp/others \
			preloaded "$LOADER/linked" >/dev/null 2>"$tmp/err" && silent_err && cp "$tmp/log" "$tmp/err" || return
		err_has 'NVRTCCACHE_MAXSIZE: unknown variable .did you mean .NVRTCCACHE_MAX_SIZE.\?.$' && err_has 'NVRTCCACHE_WAIT: bad value: it takes whole seconds' &&
			err_has "NVRTCCACHE_TRACE: '$tmp/nowhere/trace' cannot be used: no such" && err_has "NVRTCCACHE_LOWER: '$tmp/nowhere' cannot be used: no such" &&
			err_has "NVRTCCACHE_LOWER: '$tmp/others' cannot be used: not used, because others" && [ "$(grep -c NVRTCCACHE_ "$tmp/err")" -eq 5 ] || return
		# not for processes that have nothing to compile, and never on a stderr that nobody has asked for
		rm "$tmp/log" && NVRTCCACHE_LOG=$tmp/log NVRTCCACHE_MAXSIZE=1G preloaded true 2>"$tmp/err" && silent_err && [ ! -e "$tmp/log" ] &&
			NVRTCCACHE_MAXSIZE=1G NVRTCCACHE_LOG=$tmp/nowhere/log preloaded "$LOADER/linked" >/dev/null 2>"$tmp/err" && silent_err
	}
	check "The library names in its log, once, what is unknown, refused or cannot be used." told_in_the_log
else
	skip "The library names in its log, once, what is unknown, refused or cannot be used." "no library or no fixture"
	skip "stats shows the hits, misses and entries of programs that ran." "no library or no fixture"
	skip "stats --zero prints the counts, then resets them, and does not remove entries." "no library or no fixture"
	skip "stats --zero changes nothing where the cache is read-only." "no library or no fixture"
fi

plan
