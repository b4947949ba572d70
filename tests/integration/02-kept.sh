#!/bin/bash
# SPDX-License-Identifier: MIT
# weight: 10
# What tests/cases/differential.py keeps from one run to the next (tests/cases/kept.py), and when it plays that again.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
runs_here python3 || skip_all "not of this machine"

# A build whose player says how it is called, and whose cached arms print something else if $LIES is set.
mkdir -p "$tmp/build/tests" "$tmp/nvrtc"
ln -s "$LIBRARY" "$COMMAND" "$tmp/build/"
cp "$FAKE"/13/libnvrtc{.so.13,-builtins.so.13.0} "$tmp/nvrtc/"
cat >"$tmp/build/tests/player" <<END
#!/bin/bash
echo "\${LD_PRELOAD:+cached}" >>"$tmp/played"
"$BUILD/tests/player" "\$@" | sed "\${LIES:+\${LD_PRELOAD:+s/compile 0/compile 1/}}"
END
chmod +x "$tmp/build/tests/player"
printf '=== A kernel.\nsource <<\n__global__ void k(int *p) { *p = 1; }\nEND\ncreate\ncompile -arch=sm_90\nall\n' >"$tmp/one.case"
export NVRTC_LIB=$tmp/nvrtc/libnvrtc.so.13

plays() { # TIMES, that it is played without us: and all is well
	: >"$tmp/played"
	python3 tests/cases/differential.py "$tmp/build" "$tmp/one.case" && grep -c '^$' "$tmp/played" | grep -qx "$1" &&
		[ "$(grep -c cached "$tmp/played")" -eq 4 ]
}
again() { plays 1 && plays 0; }
check "What the compilers print without the cache is kept." again
sed -i 's/= 1/= 2/' "$tmp/one.case"
check "It is played again where the case is another." again
touch "$NVRTC_LIB"
check "It is played again where the compiler is another." again
touch "$tmp/nvrtc/libnvrtc-builtins.so.13.0"
check "It is played again where a library beside the compiler is another." again
cp -p "$NVRTC_LIB" "$tmp/copy" && mv "$tmp/copy" "$NVRTC_LIB"
check "It is played again where the compiler was replaced by one of the same size and time." again
echo >>"$tmp/build/tests/player"
check "It is played again where the player is another." again
sed -i 's/compile 0/compile 2/' "$tmp"/build/tests/plain/*.json
check "It is played again where what was kept is not what the compilers print now." again
finds() { ! LIES=yes plays 0 >"$tmp/told" && cat "$tmp/told" && grep -q '^not ok 1 - one: A kernel.' "$tmp/told"; }
check "What differs is found although the other side is kept." finds
without_cold() {
	: >"$tmp/played"
	CASES_ARMS='' python3 tests/cases/differential.py "$tmp/build" "$tmp/one.case" && grep -qx '' "$tmp/played"
}
check "Without the cold arm, which plays the compilers as they are now, what was kept is not used." without_cold
# What spoilers.py asks, in processes that are killed if $1 is 1.
asked() {
	BUILD=$tmp/build python3 - "$NVRTC_LIB" "$1" <<-'END'
		import sys
		sys.path.insert(0, "tests/cases")
		import spoilers
		ask = spoilers.Worker.ask
		def dying(worker, options, **more):
		    if "text" in more and sys.argv[2] == "1":
		        worker.process.kill()
		    return ask(worker, options, **more)
		spoilers.Worker.ask = dying
		sys.exit(not spoilers.Search(sys.argv[1]).play_random(1, 1))
	END
}
ln -s "$BUILD/tests/verdict" "$tmp/build/tests/"
check "What is asked of a compiler is not kept if a process was killed that was asked, and otherwise is." eval \
	'asked 1 && ! ls "$tmp"/build/tests/plain/spoilers-* && asked 0 && ls "$tmp"/build/tests/plain/spoilers-*'
exec 9>>"$(echo "$tmp"/build/tests/plain/*.lock)" && flock 9
check "Where another run plays the same file, it is played elsewhere, and nothing is kept." plays 1
plan
