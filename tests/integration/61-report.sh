#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Traces as a page: what is taken for one, what is refused and where, and what a browser makes of the page.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all "no python3"
cd "$tmp" || exit 1

report() { "$COMMAND" report "$@" >"$tmp/out" 2>"$tmp/err"; }
# STATUS WORDS ARGUMENT...: that status, those words on stderr (or stdout), and no page
refused() {
	local wanted=$1 words=$2 got
	shift 2
	report "$@"
	got=$?
	[ "$got" -eq "$wanted" ] && grep -qF -- "$words" "$tmp/err" && [ ! -e page.html ] ||
		{ echo "status $got" && cat "$tmp/err" && false; }
}
written() { # WORDS TRACE...
	local words=$1
	shift
	rm -f page.html
	report "$@" -o page.html && grep -qF -- "$words" "$tmp/out" && [ -s page.html ] || { cat "$tmp/out" "$tmp/err" && false; }
}
# what the data of page.html is, for python
cat >data.py <<'PYTHON'
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">\n(.*?)</script>', page, re.DOTALL).group(1))
texts = [file["text"] for file in data["files"]]
print(eval(sys.argv[2]))
PYTHON
holds() { # EXPRESSION VALUE
	local got
	got=$(python3 data.py page.html "$1") || return
	[ "$got" = "$2" ] || { echo "$1: $got, not $2" && false; }
}

none() { refused 2 "NVRTCCACHE_TRACE=trace.json" -o page.html; }
check "Without a trace it says how to get one." none
check "A trace that is not there is named." refused 1 "gone.json: No such file or directory" gone.json -o page.html
check "A directory is no trace." refused 1 "/: Is a directory" / -o page.html

printf '[\n]\n' >empty.json
check "A trace of nothing gives a page." written "Wrote page.html" empty.json
printf '' >nothing.json
check "So does a file that has nothing in it." written "Wrote page.html" nothing.json

cat >small.json <<'JSON'
[
{"name":"a.cu","cat":"miss","ph":"X","ts":1000.5,"dur":250000,"pid":7,"tid":7,"args":{"command":"trainer","compiler":"nvrtc","version":"13.0","arch":"sm_90","key":"74a7","options":["-DN=8"],"detail":"header changed: vec.h","bytes":900,"cost":249000000,"wait":0,"result":0}},
{"name":"b.cu","cat":"not_kept","ph":"X","ts":300000,"dur":100000,"pid":7,"tid":7,"args":{"compiler":"nvrtc","version":"13.0","reason":"time_macros","bytes":0,"cost":100000000,"wait":0,"result":0}},
{"name":"a.cu","cat":"hit_disk","ph":"X","ts":500000,"dur":1000,"pid":7,"tid":8,"args":{"compiler":"nvrtc","version":"13.0","bytes":900,"cost":249000000,"wait":500000,"result":0}},
{"name":"a.cu","cat":"wait","ph":"X","ts":500010,"dur":500,"pid":7,"tid":8},
{"name":"a.cu","cat":"hit_memory","ph":"X","ts":600000,"dur":20,"pid":7,"tid":8,"args":{"compiler":"nvrtc","version":"13.0","bytes":900,"cost":249000000,"wait":0,"result":0,"colour":["of","the future",{"deep":null}]}},
{"name":"c.cu","cat":"teleported","ph":"X","ts":700000,"dur":20,"pid":7,"tid":8}
]
JSON
same() { written "Wrote page.html" small.json && holds "texts == [open('small.json').read()]" True; }
check "The page has the whole trace." same
again() { cp page.html first.html && written "Wrote page.html" small.json && cmp page.html first.html; }
check "The same trace gives the same page." again
piped() { "$COMMAND" report - <small.json >page.html && cmp page.html <("$COMMAND" report -o - - <small.json); }
check "Trace and page can be pipes." piped
from_environment() { NVRTCCACHE_TRACE=small.json report -o page.html && cmp page.html first.html; }
check "Without a name the trace is NVRTCCACHE_TRACE's." from_environment
two() { written "Wrote page.html" small.json small.json && holds 'len(texts)' 2; }
check "A page holds several traces." two
rm -f page.html

nothing_from_elsewhere() {
	written Wrote small.json && ! grep -oE "(src|href)=|url\(|@import|@font-face|https?://" page.html &&
		grep -q "Content-Security-Policy\" content=\"default-src 'none'" page.html
}
check "The page refers to nothing, and allows nothing but its own script and style." nothing_from_elsewhere
rm -f page.html

printf 'My thesis\n' >thesis.tex
check "What is no trace is refused." refused 1 "thesis.tex: not a trace" thesis.tex -o page.html
check "One bad trace of two, and no page is written." refused 1 "thesis.tex: not a trace" small.json thesis.tex -o page.html

printf '[{"name":"\\u0000</script><script>alert(1)</script><!--<script>]]>&lt;\xe2\x80\xa8\xe2\x80\xae","cat":"</td><img src=x onerror=alert(2)>","ph":"X","ts":1,"dur":1,"pid":"</script>","tid":1,"args":{"</script><b>":"<i>"}}]' >hostile.json
cp hostile.json '<script><img>.json'
hostile() {
	written Wrote hostile.json '<script><img>.json' && [ "$(grep -o '<script' page.html | wc -l)" = 2 ] && [ "$(grep -o '</script' page.html | wc -l)" = 2 ] &&
		! grep -qE '<img|<i>|<b>|<!--<' page.html && holds 'texts[0] == open("hostile.json").read(), data["files"][1]["name"]' "(True, '<script><img>.json')"
}
check "No name breaks out of its HTML element." hostile
name_of_file() { printf x >"$(printf 'a\033[31m.json')" && refused 1 "not a trace" "$(printf 'a\033[31m.json')" -o none.html && ! grep -q "$(printf '\033')" "$tmp/err"; }
rm -f page.html
check "Nor does a file's name command the terminal." name_of_file

no_space() {
	[ -e /dev/full ] || return 0
	report small.json -o /dev/full
	[ $? -eq 1 ] && grep -q "/dev/full: No space left on device" "$tmp/err" && ! "$COMMAND" report small.json >/dev/full 2>"$tmp/err"
}
check "A full disk is reported." no_space
over_itself() { cp small.json same.json && refused 1 "would replace the trace" same.json -o ./same.json && cmp same.json small.json; }
check "The page does not take its trace's place." over_itself
no_place() { refused 1 "gone/page.html: No such file or directory" small.json -o gone/page.html; }
check "A place that is not there is named." no_place

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
# the page as it is once its script has run; what the console got is in $tmp/console
drawn() {
	timeout 300 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$tmp/browser" --no-first-run \
		--disable-background-networking --virtual-time-budget=5000 --enable-logging=stderr --dump-dom "file://$tmp/page.html" >dom.html 2>"$tmp/console"
}
needs "no chromium" [ -n "$browser" ]
text() { sed 's/<[^>]*>/ /g' dom.html | tr -s ' \n' ' ' >text; }
draws() { # TRACE...
	written Wrote "$@" && drawn && ! grep CONSOLE "$tmp/console" && text
}
says() { # WORDS...: in the page that was drawn
	for words; do grep -qF -- "$words" text || { echo "not there: $words" && head -c 3000 text && return 1; }; done
}
quiet() { draws small.json && grep -q 'main>' dom.html && ! grep -q '<main hidden' dom.html; }
check_there "A browser draws the page, without a complaint." quiet
figures() {
	says 'compiles 2 in 349 ms 1 cached, 1 not cached hits 2 saved 497 ms 1 in memory, 1 on disk hit rate 50.0 %' \
		'waits 1 took 500 µs' 'header changed 1 249 ms 71.3 % vec.h' '__DATE__ or __TIME__ 1 100 ms' teleported 'trainer 7'
}
check_there "It has the figures of its events." figures
hostile_drawn() {
	draws hostile.json '<script><img>.json' && [ "$(grep -o '<img' dom.html | wc -l)" = 0 ] &&
		grep -q '&lt;/script&gt;&lt;script&gt;alert(1)' dom.html && grep -q '\\u0000' dom.html && grep -q '\\u202e' dom.html
}
check_there "Hostile names are texts there." hostile_drawn
# a script of ours; what it finds becomes the title
with_script() {
	python3 - "$1" <<'PYTHON'
import sys
page = open("page.html").read()
open("page.html", "w").write(page.replace("</body>", f'<script>{sys.argv[1]}</script></body>'))
PYTHON
}
keys() {
	written Wrote small.json && with_script '
const rows = document.getElementById("rows"), found = [];
const press = (key) => {
rows.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
found.push(document.querySelector("#details p").textContent.split(",")[0]);
};
["ArrowRight", "ArrowRight", "ArrowDown", "Enter", "+", "0", "Escape"].forEach(press);
found.push(document.querySelectorAll("#calls tbody tr").length);
[...document.querySelectorAll("#legend button")].find((button) => button.textContent.includes("not cached")).click();
found.push(document.querySelectorAll("#calls tbody tr").length);
document.title = found.join("|");' && drawn && ! grep CONSOLE "$tmp/console" &&
		grep -qF '<title>a.cu compiled and cached|b.cu compiled|a.cu hit on disk|a.cu hit on disk|a.cu hit on disk|a.cu hit on disk|Point at a call|5|4</title>' dom.html ||
		{ grep '<title' dom.html && cat "$tmp/console" && false; }
}
check_there "Keys go from call to call, and an outcome can be left out." keys
many() {
	python3 -c 'import json; json.dump([{"name": f"k{i % 50}.cu", "cat": ["miss", "hit_disk", "hit_memory", "hit_memory"][i % 4], "ph": "X", "ts": i * 100, "dur": 90, "pid": i % 10, "tid": 1, "args": {"cost": 1000000}} for i in range(10000)], open("many.json", "w"))'
	draws many.json && says 'compiles 2,500 in 2.50 s 2,500 cached hits 7,500 saved 6.83 s'
}
check_there "Ten thousand calls are drawn." many
# what a run leaves that was killed, or that wrote to a pipe
cut() {
	head -c $(($(stat -c %s small.json) - 100)) small.json >cut.json
	sed -e '$d' small.json >open.json
	sed -e 1d -e '$d' -e 's/}$/},/' small.json >pipe.json
	printf '[package]\nname = 1\n' >other.json
	draws cut.json open.json pipe.json other.json && says '13 calls of 3 processes' 'UTC (cut at its end), open.json' '(not a trace)'
}
check_there "A trace that was cut, or that a pipe got, is drawn up to its last whole event." cut
names() {
	cat >names.json <<'JSON'
[
{"name":"default_program","cat":"miss","ph":"X","ts":1,"dur":9,"pid":1,"tid":1,"args":{"key":"11aa","options":"-G -DN=4 -arch=sm_90","arch":"sm_90","kernel":"scale<float>"}},
{"name":"default_program","cat":"miss","ph":"X","ts":20,"dur":8,"pid":1,"tid":1,"args":{"key":"22bb","options":"-G -DN=5 -arch=sm_90","arch":"sm_90"}},
{"name":"default_program","cat":"miss","ph":"X","ts":30,"dur":7,"pid":1,"tid":1,"args":{"key":"33cc","options":"-G -arch=sm_80","arch":"sm_80"}},
{"name":"/tmp/tmpa1b2c3d4/x.cu","cat":"miss","ph":"X","ts":40,"dur":6,"pid":1,"tid":1,"args":{}},
{"name":"/tmp/tmpzzzz_9xy/x.cu","cat":"hit_disk","ph":"X","ts":50,"dur":1,"pid":1,"tid":1,"args":{"cost":6000}},
{"name":"/tmp/cc-aB3xYz.cu","cat":"miss","ph":"X","ts":60,"dur":5,"pid":1,"tid":1,"args":{}},
{"name":"gemm_128x64.cu","cat":"miss","ph":"X","ts":70,"dur":4,"pid":1,"tid":1,"args":{}}
]
JSON
	draws names.json && says 'scale&lt;float&gt; 1 9.00' 'default_program -DN=5 1 8.00' 'default_program 33cc 1 7.00' \
		'/tmp/tmp*/x.cu 1 6.00 µs 1 5.00' '/tmp/cc-*.cu 1 5.00' 'gemm_128x64.cu 1 4.00'
}
check_there "Programs without a name are told apart, and random names are one row." names
idle() {
	cat >idle.json <<'JSON'
[{"name":"a.cu","cat":"miss","ph":"X","ts":0,"dur":1e6,"pid":1,"tid":1},
{"name":"b.cu","cat":"miss","ph":"X","ts":36e8,"dur":1e6,"pid":1,"tid":1}]
JSON
	written Wrote idle.json && with_script '
const rows = document.getElementById("rows"), found = [];
const box = rows.getBoundingClientRect(), left = box.width > 640 ? 190 : 0;
for (const part of [0.25, 0.75]) {
rows.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + left + (box.width - left) * part, clientY: box.top + 27, bubbles: true}));
found.push(document.querySelector("#details p").textContent.split(",").slice(0, 3).join());
}
document.title = found.join("|");' && drawn && ! grep CONSOLE "$tmp/console" &&
		grep -qF '<title>a.cu compiled and cached, 1.00 s, at 0 s|b.cu compiled and cached, 1.00 s, at 60.0 min</title>' dom.html ||
		{ grep '<title' dom.html && false; }
}
check_there "Idle time is cut." idle
LIFE=$BUILD/tests/life
SO=$FAKE/13/libnvrtc.so.13
own() {
	NVRTCCACHE_TRACE=$tmp/own.json LD_PRELOAD=$LIBRARY "$LIFE" "$SO" trivial 3 -arch=sm_90 >/dev/null 2>&1
	draws own.json && says '4 calls of 1 process' '1 cached hits 3 saved' '3 in memory' 'life '
}
[ -n "$lacks" ] || needs "no fake NVRTC in $BUILD" [ -x "$LIFE" -a -e "$SO" ]
check_there "A program's own trace is drawn." own
plan
