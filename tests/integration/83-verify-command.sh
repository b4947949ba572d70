#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Reading every result of a cache: what is sound, what is bad and why, and what is removed; keys that name none.
# shellcheck disable=SC2015,SC2317 # functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=command.sh
. "$(dirname "$0")/command.sh"
LIFE=$BUILD/tests/life
NVRTC=$FAKE/13/libnvrtc.so.13
[ -x "$LIFE" ] && [ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"
command -v python3 >/dev/null || skip_all "no python3"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is
cd "$tmp" || exit 1

compile() { preloaded "$LIFE" "$NVRTC" trivial 0 "$@" >"$tmp/compiled" 2>&1; }
files() { find "$NVRTCCACHE_DIR" -type f 2>/dev/null | grep -E '/v1/[0-9a-f]{2}/[0-9a-f]{62}$' | sort; }
file() { files | sed -n "${1}p"; }
three() {
	fresh_cache
	compile -DN=1 && compile -DN=2 && compile -DN=3 && [ "$(entries)" -eq 3 ]
}

empty() {
	fresh_cache
	gives 0 verify && out_has '^Verified 0 sound entries' && silent_err && [ ! -e "$NVRTCCACHE_DIR" ] &&
		gives 0 verify --json && is '[told["results"], told["bad"], told["complete"]]' '[0, [], True]'
}
check "An empty cache is sound, and is not made." empty
sound() { three && gives 0 verify && out_has '^Verified 3 sound entries in ' && [ "$(wc -l <"$tmp/out")" -eq 1 ] && silent_err; }
check "Sound results are counted." sound
leaves_use_alone() {
	touch -a -d '2001-01-01' "$(file 1)" && gives 0 verify && [ "$(stat -c %X "$(file 1)")" = "$(date -d 2001-01-01 +%s)" ]
}
check "They are not used by that." leaves_use_alone

# REASON VERDICT COMMAND...: the first file is made bad; it is named, the others are sound, and it goes with --remove.
bad() {
	local reason=$1 verdict=$2 path
	shift 2
	three || return
	path=$(file 1)
	"$@" "$path" || return
	gives 1 verify && out_has '^Verified 2 sound entries' && out_has "^ +1  $verdict\$" && err_has "^nvrtccache: $path: $verdict: $reason\$" || return
	[ "$(wc -l <"$tmp/err")" -eq 1 ] && [ -e "$path" ] || return
	gives 1 verify --json && is '[[b["file"], b["reason"], b["removed"]] for b in told["bad"]]' "[['$path', '$reason', False]]" && silent_err || return
	gives 0 verify --remove && err_has "; removed\$" && [ ! -e "$path" ] && gives 0 verify && out_has '^Verified 2 sound'
}
flip() { # OFFSET FILE
	python3 - "$1" "$2" <<'PY'
import sys
with open(sys.argv[2], "r+b") as file:
    file.seek(int(sys.argv[1]), 0 if int(sys.argv[1]) >= 0 else 2)
    byte = file.read(1)[0]
    file.seek(-1, 1)
    file.write(bytes([byte ^ 0x10]))
PY
}
cut() { truncate -s "$1" "$2"; }
of_another_key() { cp "$(file 2)" "$1"; }
directory_instead() { rm "$1" && mkdir "$1"; }
link_instead() { mv "$1" "$tmp/away" && ln -s "$tmp/away" "$1"; }
zeros() { head -c 4096 /dev/zero >"$1"; }
with_more() { head -c 300 /dev/urandom >>"$1"; }
check "A changed bit of a result is found." bad 'wrong checksum' damaged flip 300
check "So is one of its header." bad 'wrong header checksum' damaged flip 40
check "So is a file that is cut short." bad 'truncated' damaged cut 400
check "So is one that is cut in its header." bad 'truncated' damaged cut 100
check "So is one that a crash left empty of anything." bad 'incompletely written' damaged zeros
check "So is a result of another key." bad 'the key does not match the file name' damaged of_another_key
check "So is a directory in its place." bad 'not a regular file' damaged directory_instead
check "So is a symbolic link." bad 'not a regular file' damaged link_instead
check "A file writable by others is not trusted." bad 'other users can write to it' 'not trusted' chmod 666
if [ "$(id -u)" -eq 0 ]; then
	check "Nor is a file of another user." bad 'other users can write to it' 'not trusted' chown 12345
else
	skip "Nor is a file of another user." "not root"
fi

behind() {
	three && with_more "$(file 1)" && gives 1 verify && out_has '^Verified 3 sound' && err_has 'damaged: wrong data after the first entries$'
}
check "Bytes after a sound result are found, and the result is counted." behind
foreign() {
	three && echo mine >"$(dirname "$(file 1)")/README" && head -c 500 /dev/zero | tr '\0' x >"$(dirname "$(file 1)")/$(printf 'a%.0s' {1..62})" &&
		gives 0 verify --remove && out_has '^Verified 3 sound' && out_has '^ +2  not made by this cache: left alone$' && silent_err &&
		[ "$(cat "$(dirname "$(file 1)")/README")" = mine ] && [ "$(entries)" -eq 4 ]
}
check "Foreign files are not removed." foreign
other_format() {
	three && python3 - "$(file 1)" <<'PY' && gives 0 verify --remove && out_has '^Verified 2 sound' && out_has '^ +1  in the format of another version: left alone$' && [ "$(entries)" -eq 3 ]
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(8)
    file.write(bytes([7, 0, 0, 0]))
PY
}
check "Results of another format are not reported as damaged, and are not removed." other_format
temporary() {
	three && : >"$(dirname "$(file 1)")/tmp.1.0123456789abcdef" && gives 0 verify && out_has "^ +1  temporary: 'nvrtccache prune' removes stale ones\$"
}
check "A temporary file is counted." temporary
read_only() {
	three && cut 400 "$(file 1)" || return
	NVRTCCACHE_READONLY=1 gives 1 verify --remove && err_has 'NVRTCCACHE_READONLY is set' && [ "$(entries)" -eq 3 ]
}
check "A cache that is only read loses nothing." read_only
others_can_write() {
	three && chmod 777 "$NVRTCCACHE_DIR" && gives 1 verify && err_has 'others can write' && ! grep -q '^Verified' "$tmp/out" &&
		gives 1 verify --json && is '[told["complete"], told["bad"]]' '[False, []]' &&
		gives 1 show 00 && err_has 'others can write' && gives 1 extract 00 --ptx && err_has 'others can write'
}
check "A directory that others can write to is not read." others_can_write
full() { three && "$COMMAND" verify >/dev/full 2>"$tmp/err"; [ $? -eq 1 ] && err_has '^nvrtccache: standard output: No space left on device$'; }
check "A full disk is reported." full

# Nobody reads what it says of a thousand files, so that it is still at work when the signal comes.
interrupted() {
	three || return
	mkdir -p "$NVRTCCACHE_DIR/v1/ab" && chmod 700 "$NVRTCCACHE_DIR/v1/ab"
	python3 - "$COMMAND" "$NVRTCCACHE_DIR/v1/ab" <<'PY'
import os, signal, subprocess, sys
os.umask(0o077)
for number in range(1000):
    with open(f"{sys.argv[2]}/{number:062x}", "wb") as file:
        file.write(bytes(300))
work = subprocess.Popen([sys.argv[1], "verify", "--remove"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
work.stderr.read(1)
work.send_signal(signal.SIGINT)
out, err = work.communicate()
named = err.count(b"\n")
left = len(os.listdir(sys.argv[2]))
print(work.returncode, named, left, out, err[-300:])
sys.exit(work.returncode != -signal.SIGINT or not out.startswith(b"Interrupted: ") or not 0 < left < 1000)
PY
}
check "An interrupt ends it between two files, with the counts so far." interrupted

words() {
	gives 2 verify now && err_has 'verify: now: unexpected argument' && gives 2 show && err_has 'show: KEY is missing' && gives 2 show a b &&
		gives 2 extract --ptx && err_has 'extract: KEY is missing' && gives 2 extract ab && err_has 'extract: the artifact is missing' &&
		gives 2 extract ab --ptx --cubin -o x && gives 2 extract ab --all x -o y && gives 2 extract ab --ptx --number 0 && gives 2 extract ab --ptx --number x
}
check "What does not go together is refused." words
keys() {
	three || return
	for verb in show "extract --log"; do
		# shellcheck disable=SC2086 # two words
		gives 2 $verb xyz && err_has '^nvrtccache: xyz: not a key: it takes the first of its 64 hexadecimal digits' && gives 2 $verb '' &&
			gives 2 $verb "$(printf '0%.0s' {1..65})" && gives 1 $verb "$(printf '0%.0s' {1..64})" && err_has ': no entry in .* has a key that begins with it; ' || return
	done
}
check "A malformed key is reported, and a key without a result." keys
ambiguous() {
	fresh_cache
	local n digit
	for n in {1..17}; do compile "-DN=$n"; done # of sixteen first digits one comes twice
	digit=$(files | sed -E 's,.*/v1/(.).*,\1,' | sort | uniq -d | head -n 1)
	gives 1 show "$digit" && err_has "^nvrtccache: $digit: ambiguous key: [0-9]+ keys begin with it: ${digit}[0-9a-f]{7,} ${digit}[0-9a-f]{7,}" || return
	n=$(sed -E "s/.*: ([0-9a-f]+) .*/\1/" "$tmp/err")
	gives 0 show "$n" && out_has "^key       $n" && gives 0 show "${n^^}"
}
check "A beginning of several keys names them, with digits enough." ambiguous
damaged_key() {
	three && flip 300 "$(file 1)" || return
	local key
	key=$(file 1 | sed -E 's,.*/v1/(..)/,\1,')
	gives 1 show "$key" && err_has ": damaged; 'nvrtccache verify' says more\$" && [ ! -s "$tmp/out" ] && gives 1 extract "$key" --ptx -o no && err_has ': damaged; ' && [ ! -e no ]
}
check "A result that is damaged is neither shown nor extracted." damaged_key
strange() {
	fresh_cache
	preloaded "$LIFE" "$NVRTC" trivial 0 "-DA=$(printf '\033[31m\n')" >/dev/null 2>&1
	local key
	key=$(file 1 | sed -E 's,.*/v1/(..)/,\1,')
	gives 0 show "$key" && ! grep -q "$(printf '\033')" "$tmp/out" && out_has "^options   '-DA=" && gives 0 show --json "$key" &&
		is 'told[0]["options"]' "$(python3 -c 'print([chr(45) + "DA=\x1b[31m"])')"
}
check "Bytes that command a terminal do not reach one." strange
plan
