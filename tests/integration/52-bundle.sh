#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 50
# nvrtccache export and import: a warm cache as one file, on another machine or in an image.
# shellcheck disable=SC2317,SC2015 # functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=command.sh
. "$(dirname "$0")/command.sh"
export HOME=$tmp/home
mkdir "$HOME"
HOST=$LOADER/linked
LIFE=$BUILD/tests/life
NVRTC=$FAKE/13/libnvrtc.so.13
[ -x "$HOST" ] && [ -x "$LIFE" ] && [ -e "$NVRTC" ] || skip_all "no fixture"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is

# The results alone, as text that can be compared: what is in the files of the directory, but for stamps, which a bundle
# has none of.
results() {
	local neutral
	neutral=$(mktemp -d "$tmp/neutral.XXXXXX") || return
	NVRTCCACHE_DIR=$1 "$COMMAND" export - 2>/dev/null | NVRTCCACHE_DIR=$neutral/cache "$COMMAND" import - >/dev/null
	(cd "$neutral/cache" 2>/dev/null && find v1 -type f -path 'v1/??/*' -exec sha256sum {} + | sort -k 2)
	rm -rf "$neutral"
}
same_results() { [ "$(results "$1")" = "$(results "$2")" ] || { diff <(results "$1") <(results "$2") && false; }; }
compile() { timeout 600 "$COMMAND" run "$LIFE" "$NVRTC" trivial 1 "$@" >/dev/null 2>&1; }

fresh_cache
source_cache=$NVRTCCACHE_DIR
preloaded "$HOST" >"$tmp/cold" 2>&1
wanted=$(entries)
bundle=$tmp/kernels.nvb

exports() {
	gives 0 export "$bundle" && silent_err && out_has "^Exported $wanted entr[a-z]+ \(.* from $source_cache in [0-9.]+ [a-z]+\$" &&
		[ "$wanted" -gt 1 ] && [ "$(find "$tmp" -maxdepth 1 -name 'tmp.*' | wc -l)" -eq 0 ]
}
check "A cache is exported to a file." exports

fresh_cache
imports() {
	gives 0 import "$bundle" && silent_err && out_has "^Imported $wanted entr[a-z]+ \(.* into $NVRTCCACHE_DIR in [0-9.]+ [a-z]+\$" &&
		same_results "$source_cache" "$NVRTCCACHE_DIR" || return
	preloaded "$HOST" >"$tmp/warm" 2>&1
	[ "$(stat_of misses)" -eq 0 ] && [ "$(stat_of hits_disk)" -gt 0 ] && grep -q '^compiles 0$' "$tmp/warm" || return
	diff <(grep -v '^compiles ' "$tmp/cold") <(grep -v '^compiles ' "$tmp/warm")
}
check "A program that finds an imported cache compiles nothing and sees the same." imports

round_trip() {
	local first=$NVRTCCACHE_DIR
	fresh_cache
	gives 0 import "$bundle" && gives 0 export "$tmp/again.nvb" && cmp "$bundle" "$tmp/again.nvb" &&
		gives 0 export "$tmp/again.nvb" && cmp "$bundle" "$tmp/again.nvb" &&
		NVRTCCACHE_DIR=$first gives 0 import "$bundle" && same_results "$first" "$NVRTCCACHE_DIR"
}
check "Equal caches give equal bundles, and to import one again changes nothing." round_trip

known() {
	local one
	gives 0 import "$bundle" && silent_err && out_has "^Imported 0 entr[a-z]+ \(0 bytes\) into $NVRTCCACHE_DIR in .*; $wanted were there already\$" || return
	one=$(find "$NVRTCCACHE_DIR"/v1/?? -type f | head -n 1)
	rm "$one"
	gives 0 import "$bundle" && out_has "^Imported 1 entry \(.* into $NVRTCCACHE_DIR in .*; $((wanted - 1)) w[a-z]+ there already\$" && [ -e "$one" ]
}
check "Results that are there already are not counted as imported." known

pipes() {
	fresh_cache
	NVRTCCACHE_DIR=$source_cache "$COMMAND" export - 2>"$tmp/err" | "$COMMAND" import - >"$tmp/out" &&
		grep -q "^Exported $wanted entr" "$tmp/err" && out_has "^Imported $wanted" &&
		same_results "$source_cache" "$NVRTCCACHE_DIR" &&
		mkfifo "$tmp/pipe" && { NVRTCCACHE_DIR=$source_cache "$COMMAND" export "$tmp/pipe" >/dev/null & } &&
		cmp "$tmp/pipe" "$bundle" && wait $! && [ -p "$tmp/pipe" ]
}
check "Standard output and input will do, and so will a pipe." pipes

# Its time is part of the dependencies, because the compiler's option is not known to us.
version() { echo "int version_$1;" >"$tmp/h" && touch -d "2001-01-$1" "$tmp/h"; }
versions() { # of a header: $1 to $2; old enough for their results to be kept
	local i
	for ((i = $1; i <= $2; i++)); do
		version "$i" && sleep 0.1 && compile "--fake-open=$tmp/h" || return
	done
}
merges() {
	local here=$tmp/merge-here there=$tmp/merge-there
	NVRTCCACHE_DIR=$there versions 1 3 && NVRTCCACHE_DIR=$there gives 0 export "$tmp/three.nvb" && out_has '^Exported 3 entr[a-z]+' &&
		NVRTCCACHE_DIR=$here versions 4 5 && NVRTCCACHE_DIR=$here gives 0 import "$tmp/three.nvb" && out_has '^Imported 3 entr[a-z]+' &&
		[ "$(NVRTCCACHE_DIR=$here entries)" -eq 1 ] && NVRTCCACHE_DIR=$here gives 0 export "$tmp/five.nvb" &&
		out_has '^Exported 5 entr[a-z]+' || return
	export NVRTCCACHE_DIR=$here
	local i
	for i in 1 2 3 4 5; do
		version "$i" && compile "--fake-open=$tmp/h" || return
	done
	[ "$(stat_of stores)" -eq 2 ] && [ "$(stat_of hits_disk)" -eq 5 ] || { "$COMMAND" stats && return 1; } # its own, made before
	gives 0 import "$tmp/three.nvb" && out_has '^Imported 0 entr[a-z]+ \(0 bytes\) .*; 3 were there already$' # whatever a hit has noted
}
check "Several results of one request are all imported, in addition to existing ones." merges
fresh_cache

bounded() {
	local here=$tmp/merge-many i
	NVRTCCACHE_DIR=$here versions 10 23 && NVRTCCACHE_DIR=$here gives 0 import "$tmp/three.nvb" &&
		NVRTCCACHE_DIR=$here versions 24 24 && NVRTCCACHE_DIR=$here gives 0 import "$tmp/three.nvb" &&
		NVRTCCACHE_DIR=$here gives 0 export "$tmp/many.nvb" && out_has '^Exported 16 entr[a-z]+'
}
check "No request has more than sixteen results after an import." bounded

# Many small entries, the last made was used last.
many=$tmp/many-cache
for ((i = 0; i < 24; i++)); do
	NVRTCCACHE_DIR=$many compile "-DNUMBER=$i"
done
i=0
while read -r file; do
	touch -d "$((i += 1)) hours ago" "$file"
done < <(find "$many" -type f -path '*/v1/??/*' | sort)
size=$(find "$many" -type f -path '*/v1/??/*' -printf '%s\n' | sort -n | tail -1)

keeps_last() {
	fresh_cache
	export NVRTCCACHE_MAX_SIZE=$((size * 10))
	NVRTCCACHE_DIR=$many gives 0 export "$tmp/many.nvb" && out_has '^Exported 24 entr[a-z]+' &&
		gives 0 import "$tmp/many.nvb" && [ "$(entries)" -le 10 ] && [ "$(entries)" -ge 8 ] || return
	[ "$(du -cb "$NVRTCCACHE_DIR"/v1/??/* | tail -1 | cut -f 1)" -le "$NVRTCCACHE_MAX_SIZE" ] || return
	# the sorted names are in the order of use: the first was used last
	diff <(cd "$many" && find v1 -type f -path 'v1/??/*' | sort | head -n 8) \
		<(cd "$NVRTCCACHE_DIR" && find v1 -type f -path 'v1/??/*' | sort | head -n 8)
	local result=$?
	unset NVRTCCACHE_MAX_SIZE
	return "$result"
}
used_since() {
	NVRTCCACHE_DIR=$many gives 0 export --used-since 7.5h "$tmp/lately.nvb" && out_has '^Exported 7 entr[a-z]+' && fresh_cache &&
		gives 0 import "$tmp/lately.nvb" && [ "$(entries)" -eq 7 ] &&
		diff <(cd "$many" && find v1 -type f -path 'v1/??/*' | sort | head -n 7) <(cd "$NVRTCCACHE_DIR" && find v1 -type f -path 'v1/??/*' | sort) &&
		NVRTCCACHE_DIR=$many gives 0 export --used-since 1s "$tmp/lately.nvb" && out_has '^Exported 0 entr[a-z]+' &&
		NVRTCCACHE_DIR=$many gives 0 export --used-since 900w "$tmp/lately.nvb" && out_has '^Exported 24 entr[a-z]+' &&
		gives 2 export --used-since yesterday "$tmp/none.nvb" && err_has "bad age 'yesterday': it takes a number and s, m" && [ ! -e "$tmp/none.nvb" ]
}
check "A bundle of what was used lately has that and nothing else." used_since

check "A smaller cache imports the last used entries of a bundle and stays below its cap." keeps_last

too_large() {
	fresh_cache
	NVRTCCACHE_MAX_SIZE=$((size * 8 - 1)) gives 0 import "$tmp/many.nvb" && out_has '^Imported [0-9]+ entr[a-z]+' &&
		err_has 'left out: [0-9]+ entr[a-z]+ larger than an eighth of the size limit'
}
check "A result larger than an eighth of the cap is left out, and said to be." too_large

replaces() {
	export NVRTCCACHE_DIR=$source_cache
	echo old >"$tmp/old.nvb" && chmod 640 "$tmp/old.nvb" && ln -s old.nvb "$tmp/link.nvb" && gives 0 export "$tmp/link.nvb" &&
		cmp "$tmp/old.nvb" "$bundle" && [ -L "$tmp/link.nvb" ] && [ "$(stat -c %a "$tmp/old.nvb")" = 640 ] &&
		(cd "$tmp" && umask 027 && gives 0 export new.nvb && [ "$(stat -c %a new.nvb)" = 640 ] && cmp new.nvb "$bundle")
}
check "An existing file is replaced, also through a link, and keeps its mode; a new one has the mode of the umask." replaces

whole_or_nothing() {
	echo old >"$tmp/kept.nvb"
	(ulimit -f 1 && exec "$COMMAND" export "$tmp/kept.nvb") >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && err_has "kept.nvb: File too large" && [ "$(cat "$tmp/kept.nvb")" = old ] &&
		gives 1 export "$tmp/nowhere/x.nvb" && err_has 'nowhere/x.nvb: No such file' && gives 1 export "$tmp" &&
		err_has 'Is a directory' && gives 1 export "$tmp/none/" && [ "$(find "$tmp" -maxdepth 1 -name 'tmp.*' | wc -l)" -eq 0 ]
}
check "A bundle that cannot be written leaves the old file and nothing else." whole_or_nothing

full_device() { gives 1 export /dev/full && err_has '/dev/full: No space left' && [ -c /dev/full ]; }
if [ -c /dev/full ] && [ -w /dev/full ]; then
	check "A device is written to as it is, and its errors are said." full_device
else
	skip "A device is written to as it is, and its errors are said." "no /dev/full"
fi

interrupted() {
	echo old >"$tmp/kept.nvb"
	strace -qq -o /dev/null -e trace=pwrite64 -e inject=pwrite64:signal=SIGTERM:when=1 "$COMMAND" export "$tmp/kept.nvb" >"$tmp/out" 2>&1
	[ $? -eq 143 ] && [ "$(cat "$tmp/kept.nvb")" = old ] && [ "$(find "$tmp" -maxdepth 1 -name 'tmp.*' | wc -l)" -eq 0 ] ||
		{ cat "$tmp/out" && ls "$tmp" && false; }
}
if strace -qq -o /dev/null -e trace=write -e inject=write:signal=SIGCONT:when=1 true 2>/dev/null; then
	check "An interrupted export leaves the old file and nothing else." interrupted
else
	skip "An interrupted export leaves the old file and nothing else." "no strace, or it may not trace here"
fi

damaged_source() {
	fresh_cache
	local file
	cp -a "$source_cache" "$NVRTCCACHE_DIR" && file=$(find "$NVRTCCACHE_DIR" -type f -path '*/v1/??/*' | head -n 1) &&
		printf 'x' | dd of="$file" bs=1 seek=300 conv=notrunc status=none && ln -s "$file" "${file%?}g" && cp "$file" "$file.x" &&
		gives 0 export "$tmp/less.nvb" && out_has "^Exported $((wanted - 1)) entr[a-z]+" && err_has 'left out: 1 damaged or untrusted file;' &&
		[ -e "$file" ] || return
	fresh_cache
	gives 0 import "$tmp/less.nvb" && [ "$(entries)" -eq $((wanted - 1)) ]
}
check "Damaged files are left out of a bundle, and left alone." damaged_source

nothing_there() {
	fresh_cache
	gives 0 export "$tmp/empty.nvb" && out_has '^Exported 0 entr[a-z]+' && [ ! -e "$NVRTCCACHE_DIR" ] && gives 0 import "$tmp/empty.nvb" &&
		out_has '^Imported 0 entr[a-z]+' && [ ! -e "$NVRTCCACHE_DIR" ]
}
check "A cache that is not there gives an empty bundle, and nothing is made for one." nothing_there

nothing_for_strangers() {
	local one
	fresh_cache && mkdir -p "$NVRTCCACHE_DIR/v1" && chmod 777 "$NVRTCCACHE_DIR" || return
	for one in "$tmp/empty.nvb" "$bundle"; do
		gives 1 import "$one" && err_has 'because others can write to it' && [ ! -s "$tmp/out" ] && [ "$(entries)" -eq 0 ] || return
	done
}
check "A directory that others can write takes no bundle, an empty one no less." nothing_for_strangers

refuses() {
	fresh_cache
	NVRTCCACHE_READONLY=1 gives 1 import "$bundle" && err_has NVRTCCACHE_READONLY && [ ! -e "$NVRTCCACHE_DIR" ] &&
		gives 1 import "$tmp/nowhere" && err_has 'nowhere: No such file' && gives 1 import "$tmp" && err_has 'Is a directory' &&
		gives 1 import "$HOST" && err_has 'not a bundle' && gives 2 import && gives 2 export a b && err_has 'export: b: unexpected argument' &&
		[ ! -e "$NVRTCCACHE_DIR" ] && NVRTCCACHE_READONLY=1 NVRTCCACHE_DIR=$source_cache gives 0 export "$tmp/again.nvb" || return
	mkdir -m 777 "$NVRTCCACHE_DIR" && chmod 777 "$NVRTCCACHE_DIR" && gives 1 import "$bundle" && err_has 'others can write' &&
		gives 1 export "$tmp/none.nvb" && err_has 'others can write' && [ ! -e "$tmp/none.nvb" ] && [ "$(entries)" -eq 0 ]
}
check "Neither is done where the cache may not be written or trusted, or the file is none." refuses

# Root is trusted by all, and trusts nobody: nothing of root's comes to lie in another's cache, where that user could not use it.
another_users() {
	fresh_cache
	mkdir "$NVRTCCACHE_DIR" && chown 65534 "$NVRTCCACHE_DIR" && gives 1 import "$bundle" &&
		err_has "$NVRTCCACHE_DIR: not used, because it belongs to" && [ -z "$(ls -A "$NVRTCCACHE_DIR")" ] || return
	local command
	for command in "export $tmp/none.nvb" ls prune clear verify "stats --zero" "show 00" "explain 00"; do
		# shellcheck disable=SC2086 # several words
		gives 1 $command && err_has "$NVRTCCACHE_DIR: not used, because it belongs to" || { echo "$command" && return 1; }
	done
	[ ! -e "$tmp/none.nvb" ] && [ -z "$(ls -A "$NVRTCCACHE_DIR")" ]
}
if [ "$(id -u)" -eq 0 ] && (: >"$tmp/chown" && chown 65534 "$tmp/chown") 2>/dev/null; then
	check "Another user's cache is not changed, even by root, and its owner is reported." another_users
else
	skip "Another user's cache is not changed, even by root, and its owner is reported." "only root can give files away"
fi

other_formats() {
	fresh_cache
	local format
	for format in 0 2 255; do
		cp "$bundle" "$tmp/other.nvb" && printf '%b' "\\x$(printf %02x "$format")" | dd of="$tmp/other.nvb" bs=1 seek=8 conv=notrunc status=none &&
			gives 1 import "$tmp/other.nvb" && err_has "bundle of format $format; this version reads format 1" || return
	done
	[ ! -e "$NVRTCCACHE_DIR" ]
}
check "Bundles of other formats are refused by their number." other_formats

said_once() {
	fresh_cache
	cp "$bundle" "$tmp/bad.nvb" && printf 'x' | dd of="$tmp/bad.nvb" bs=1 seek=330 conv=notrunc status=none &&
		gives 1 import "$tmp/bad.nvb" && err_has 'left out: 1 damaged entry' && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		out_has "^Imported $((wanted - 1)) entr" && [ "$(entries)" -eq $((wanted - 1)) ]
}
check "A damaged result is left out with one line, and the others are imported." said_once

# Every byte wrong, every fourth length (tests/unit/test_bundle.c has all): no crash, exit status 1, and never a file that the original cache does not have.
cat >"$tmp/spoil.py" <<'PY'
import os, shutil, subprocess, sys
command, bundle, source, work = sys.argv[1:]
whole = open(bundle, "rb").read()
def files(directory):
    found = {}
    for place, _, names in os.walk(os.path.join(directory, "v1")):
        shard = os.path.basename(place)
        if len(shard) == 2 and shard != "v1":
            found.update({shard + name: open(os.path.join(place, name), "rb").read() for name in names})
    return found
wanted = files(source)
spoilt, cache, outside = (os.path.join(work, name) for name in ("spoilt", "cache", "outside"))
os.makedirs(work)
bad = results = 0
def attempt(what, data):
    global bad, results
    with open(spoilt, "wb") as file:
        file.write(data)
    shutil.rmtree(cache, ignore_errors=True)
    done = subprocess.run([command, "import", spoilt], env={"NVRTCCACHE_DIR": cache, "LC_ALL": "C"}, capture_output=True, cwd=work)
    found = files(cache)
    results += len(found)
    wrong = [name for name in found if found[name] != wanted.get(name)]
    if done.returncode != 1 or not done.stderr or wrong or sorted(set(os.listdir(work)) - {"cache", "spoilt"}):
        bad += 1
        print(what, done.returncode, done.stderr, wrong, os.listdir(work))
for i in range(len(whole)):
    attempt(f"byte {i}", whole[:i] + bytes([whole[i] ^ (1 << i % 8)]) + whole[i + 1:])
    if i % 4 == 0:
        attempt(f"length {i}", whole[:i])
print(f"{len(whole)} bytes, {results} results imported, {bad} wrong")
sys.exit(bad != 0 or results < len(whole))
PY
spoilt() {
	fresh_cache
	compile -DSMALL && compile -DSMALL=2 && [ "$(entries)" -eq 2 ] && gives 0 export "$tmp/small.nvb" &&
		python3 "$tmp/spoil.py" "$COMMAND" "$tmp/small.nvb" "$NVRTCCACHE_DIR" "$tmp/spoil"
}
check "A bundle with a wrong byte, or a truncated one, gives no wrong result and is reported as damaged." spoilt

# On a terminal: progress on stderr, wiped at the end; and no bundle on stdout.
cat >"$tmp/terminal.py" <<'PY'
import os, pty, subprocess, sys
stream, command = sys.argv[1], sys.argv[2:]
ours, theirs = pty.openpty()
with open(os.devnull, "wb") as null:
    done = subprocess.Popen(command, stdout=theirs if stream == "out" else null, stderr=theirs if stream == "err" else subprocess.STDOUT)
os.close(theirs)
shown = b""
try:
    while chunk := os.read(ours, 4096):
        shown += chunk
except OSError:
    pass
sys.stdout.write(repr(shown))
sys.exit(done.wait())
PY
terminal() {
	fresh_cache
	python3 "$tmp/terminal.py" err "$COMMAND" import "$bundle" >"$tmp/out" && out_has 'importing .*[0-9] of about [0-9].*\\r +\\r' &&
		python3 "$tmp/terminal.py" err "$COMMAND" export "$tmp/again.nvb" >"$tmp/out" && out_has 'exporting .*[0-9] of [0-9].*\\r +\\r' &&
		{ python3 "$tmp/terminal.py" out "$COMMAND" export - >"$tmp/out"; [ $? -eq 1 ]; } && out_has 'not written to a terminal'
}
if python3 -c 'import pty, os; os.close(pty.openpty()[0])' 2>/dev/null; then
	check "Progress is shown on a terminal, and no bundle is written to one." terminal
else
	skip "Progress is shown on a terminal, and no bundle is written to one." "no pseudo-terminals"
fi

plan
