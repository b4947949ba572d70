#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 50
# nvrtccache export and import beyond tests/transcripts/bundle.t: bundles with a wrong byte, and a terminal as the file.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/command.sh"
here=$(cd "$(dirname "$0")" && pwd)
export HOME=$tmp/home
mkdir "$HOME"
LIFE=$BUILD/tests/life
NVRTC=$FAKE/13/libnvrtc.so.13
[ -x "$LIFE" ] && [ -e "$NVRTC" ] || skip_all "no fixture"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is

compile() { timeout 600 "$COMMAND" run "$LIFE" "$NVRTC" trivial 1 "$@" >/dev/null 2>&1; }

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

on_terminal() {
	python3 "$here/terminal.py" printed "$COMMAND" export - >"$tmp/out"
	[ $? -eq 1 ] && out_has 'not written to a terminal'
}
needs "no pseudo-terminals" python3 -c 'import pty, os; os.close(pty.openpty()[0])'
check_there "No bundle is written to a terminal." on_terminal

plan
