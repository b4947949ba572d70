#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Traces as a page: what is taken for one, what is refused and where, and what a browser makes of the page.
# shellcheck disable=SC2317 # functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
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
bad() { # OFFSET WORDS TEXT
	# shellcheck disable=SC2059 # escapes and all
	printf "$3" >bad.json
	refused 1 "bad.json: not a trace, at byte $1: $2" bad.json -o page.html
}
# what the data of page.html is, for python: events as objects, by file
cat >data.py <<'PYTHON'
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">\n(.*?)</script>', page, re.DOTALL).group(1))
events = [{"file": number, **event} for number, file in enumerate(data["files"]) for event in file["events"]]
print(eval(sys.argv[2]))
PYTHON
holds() { # EXPRESSION VALUE
	local got
	got=$(python3 data.py page.html "$1") || return
	[ "$got" = "$2" ] || { echo "$1: $got, not $2" && false; }
}

none() { refused 2 "NVRTCCACHE_TRACE=trace.json" -o page.html; }
check "Without a trace it says how to get one." none
check "An unknown option is refused." refused 2 "see 'nvrtccache help report'" --colour
check "A missing name after -o is rejected." refused 2 "report: --output: FILE is empty" x.json -o ''
check "A trace that is not there is named." refused 1 "gone.json: No such file or directory" gone.json -o page.html
check "A directory is no trace." refused 1 "/: Is a directory" / -o page.html
help() { report --help && grep -q 'report.*TRACE' "$tmp/out" && grep -qe '-o, --output FILE  *[a-z]' "$tmp/out"; }
check "It has a help text." help

printf '[\n]\n' >empty.json
check "A trace of nothing gives a page." written "0 events of 1 trace" empty.json
printf '' >nothing.json
check "So does a file that has nothing in it." written "0 events of 1 trace" nothing.json

cat >small.json <<'JSON'
[
{"name":"process_name","ph":"M","pid":7,"tid":7,"args":{"name":"trainer"}},
{"name":"a.cu","cat":"miss","ph":"X","ts":1000.5,"dur":250000,"pid":7,"tid":7,"args":{"compiler":"nvrtc","version":"13.0","arch":"sm_90","key":"74a7","options":"-DN=8","detail":"header changed: vec.h","bytes":900,"cost":249000000,"wait":0,"result":0}},
{"name":"b.cu","cat":"not_kept","ph":"X","ts":300000,"dur":100000,"pid":7,"tid":7,"args":{"compiler":"nvrtc","version":"13.0","reason":"time_macros","bytes":0,"cost":100000000,"wait":0,"result":0}},
{"name":"a.cu","cat":"hit_disk","ph":"X","ts":500000,"dur":1000,"pid":7,"tid":8,"args":{"compiler":"nvrtc","version":"13.0","bytes":900,"cost":249000000,"wait":500000,"result":0}},
{"name":"a.cu","cat":"wait","ph":"X","ts":500010,"dur":500,"pid":7,"tid":8},
{"name":"a.cu","cat":"hit_memory","ph":"X","ts":600000,"dur":20,"pid":7,"tid":8,"args":{"compiler":"nvrtc","version":"13.0","bytes":900,"cost":249000000,"wait":0,"result":0,"colour":["of","the future",{"deep":null}]}},
{"name":"c.cu","cat":"teleported","ph":"X","ts":700000,"dur":20,"pid":7,"tid":8}
]
JSON
check "Events and traces are counted." written "Wrote page.html: 7 events of 1 trace" small.json
same() { holds "events == [dict(event, file=0) for event in json.load(open('small.json'))]" True; }
check "The page has every member of every event, unknown ones too." same
written x small.json >/dev/null
again() { cp page.html first.html && written "7 events" small.json && cmp page.html first.html; }
check "The same trace gives the same page." again
piped() { "$COMMAND" report - <small.json >page.html 2>"$tmp/err" && cmp page.html <("$COMMAND" report -o - - <small.json 2>/dev/null) && grep -q 'standard output: 7 events' "$tmp/err"; }
check "Trace and page can be pipes." piped
from_environment() { NVRTCCACHE_TRACE=small.json report -o page.html && cmp page.html first.html; }
check "Without a name the trace is NVRTCCACHE_TRACE's." from_environment
two() { written "14 events of 2 traces" small.json small.json && holds '[event["file"] for event in events].count(1)' 7; }
check "Events of two traces are distinguished." two
rm -f page.html

nothing_from_elsewhere() {
	written 7 small.json && ! grep -oE "(src|href)=|url\(|@import|@font-face|https?://" page.html &&
		grep -q "Content-Security-Policy\" content=\"default-src 'none'" page.html
}
check "The page refers to nothing, and allows nothing but its own script and style." nothing_from_elsewhere
rm -f page.html

# what a run leaves that was killed, or that wrote to a pipe
size=$(stat -c %s small.json)
cat >cut.py <<'PYTHON'
import re, subprocess, sys
text = open("small.json").read()
for at in range(0, len(text), 37):
    part = text[:at]
    done = subprocess.run([sys.argv[1], "report", "-", "-o", "page.html"], input=part, capture_output=True, text=True)
    told = re.search(r"page.html: (\d+) event", done.stdout)
    # those that have their last bracket, whatever is behind it
    whole = sum(1 for line in part.splitlines() if re.fullmatch(r"\{.*\}+,?", line) and line.count("{") == line.count("}"))
    if done.returncode != 0 or int(told.group(1)) != whole:
        sys.exit(f"cut at {at}: {done}, {whole}")
PYTHON
check "A trace that was cut anywhere gives its whole events." python3 cut.py "$COMMAND"
said() { head -c $((size - 100)) small.json >cut.json && report cut.json -o page.html && grep -q "cut.json: cut within the event at byte [0-9]*, which is left out" "$tmp/err" && grep -q '"cut": true' page.html; }
check "The truncation is reported." said
rm -f page.html
sed -e 1d -e '$d' -e 's/}$/},/' small.json >pipe.json
check "What a pipe got, events with commas and no brackets, is a trace." written "7 events" pipe.json
rm -f page.html

damaged() {
	bad 0 "an event" 'My thesis' && bad 1 "an event" '[package]\nname = 1' && bad 12 "a comma was expected" '[{"name":1} {"name":2}]' &&
		bad 14 "the array has ended" '[{"name":1}]\n\n{"name":2}' && bad 11 "a control character" '[{"name":\t"\001"}]'
}
check "What is no trace is refused, with the byte that is wrong." damaged
damaged_values() {
	bad 10 "a value was expected" '[{"name":nil}]' && bad 10 "a digit was expected" '[{"name":-}]' && bad 11 "no such escape" '[{"name":"\\q"}]' &&
		bad 10 "not UTF-8" '[{"name":"\377"}]\n' && bad 13 "four hexadecimal" '[{"name":"\\u0g00"}]' && bad 10 "a comma" '[{"name":01}]'
}
check "So are damaged values." damaged_values
deep() { python3 -c 'print("[{\"a\":" + 40 * "[" + 40 * "]" + "}]")' >deep.json && refused 1 "nested too deeply" deep.json -o page.html; }
check "So is what is nested too deeply." deep
one_of_two() { refused 1 "deep.json: not a trace" small.json deep.json -o page.html; }
check "One bad trace of two, and no page is written." one_of_two

printf '[{"name":"\\u0000</script><script>alert(1)</script><!--<script>]]>&lt;\xe2\x80\xa8\xe2\x80\xae","cat":"</td><img src=x onerror=alert(2)>","ph":"X","ts":1,"dur":1,"pid":"</script>","tid":1,"args":{"</script><b>":"<i>"}}]' >hostile.json
cp hostile.json '<script><img>.json'
hostile() {
	written "2 traces" hostile.json '<script><img>.json' && [ "$(grep -o '<script' page.html | wc -l)" = 2 ] && [ "$(grep -o '</script' page.html | wc -l)" = 2 ] &&
		! grep -qE '<img|<i>|<b>|<!--<' page.html && holds 'events[0]["name"] == json.load(open("hostile.json"))[0]["name"], data["files"][1]["name"]' "(True, '<script><img>.json')"
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

# what the library writes
LIFE=$BUILD/tests/life
SO=$FAKE/13/libnvrtc.so.13
if [ -x "$LIFE" ] && [ -e "$SO" ]; then
	NVRTCCACHE_TRACE=$tmp/own.json LD_PRELOAD=$LIBRARY "$LIFE" "$SO" trivial 3 -arch=sm_90 >/dev/null 2>&1
	own() { written " events of 1 trace" own.json && holds '[event.get("cat", event["name"]) for event in events if event.get("cat") != "wait"]' "['process_name', 'miss', 'hit_memory', 'hit_memory', 'hit_memory']"; }
	check "A program's own trace is taken." own
else
	skip "A program's own trace is taken." "no fake NVRTC in $BUILD"
fi

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
# the page as it is once its script has run; what the console got is in $tmp/console
drawn() {
	timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$tmp/browser" --no-first-run \
		--disable-background-networking --virtual-time-budget=5000 --enable-logging=stderr --dump-dom "file://$tmp/page.html" >dom.html 2>"$tmp/console"
}
if [ -z "$browser" ]; then
	skip "A browser draws the page, without a complaint." "no chromium"
	skip "It has the figures of its events." "no chromium"
	skip "Hostile names are texts there." "no chromium"
	skip "Keys go from call to call, and an outcome can be left out." "no chromium"
	skip "Ten thousand calls are drawn." "no chromium"
else
	quiet() { rm -f page.html && written 7 small.json && drawn && ! grep CONSOLE "$tmp/console" && grep -q 'main>' dom.html && ! grep -q '<main hidden' dom.html; }
	check "A browser draws the page, without a complaint." quiet
	figures() {
		sed 's/<[^>]*>/ /g' dom.html | tr -s ' \n' ' ' >text
		grep -q 'compiles 2 in 349 ms 1 cached, 1 not cached hits 2 saved 497 ms 1 in memory, 1 on disk hit rate 50.0 %' text &&
			grep -q 'waits 1 took 500 µs' text && grep -q 'header changed 1 249 ms 71.3 % vec.h' text && grep -q '__DATE__ or __TIME__ 1 100 ms' text &&
			grep -q 'teleported' text && grep -q 'trainer 7' text || { head -c 3000 text && false; }
	}
	check "It has the figures of its events." figures
	hostile_drawn() {
		written 2 hostile.json '<script><img>.json' && drawn && ! grep CONSOLE "$tmp/console" && [ "$(grep -o '<img' dom.html | wc -l)" = 0 ] &&
			grep -q '&lt;/script&gt;&lt;script&gt;alert(1)' dom.html && grep -q '\\u0000' dom.html && grep -q '\\u202e' dom.html
	}
	check "Hostile names are texts there." hostile_drawn
	# a script of ours, let in by the page's own number; what it finds becomes the title
	with_script() {
		python3 - "$1" <<'PYTHON'
import re, sys
page = open("page.html").read()
nonce = re.search(r"'nonce-([0-9a-f]+)'", page).group(1)
open("page.html", "w").write(page.replace("</body>", f'<script nonce="{nonce}">{sys.argv[1]}</script></body>'))
PYTHON
	}
	keys() {
		written 7 small.json && with_script '
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
	check "Keys go from call to call, and an outcome can be left out." keys
	many() {
		python3 -c 'import json; json.dump([{"name": f"k{i % 50}.cu", "cat": ["miss", "hit_disk", "hit_memory", "hit_memory"][i % 4], "ph": "X", "ts": i * 100, "dur": 90, "pid": i % 10, "tid": 1, "args": {"cost": 1000000}} for i in range(10000)], open("many.json", "w"))'
		written 10000 many.json && drawn && ! grep CONSOLE "$tmp/console" && sed 's/<[^>]*>/ /g' dom.html | tr -s ' \n' ' ' | grep -q 'compiles 2,500 in 2.50 s 2,500 cached hits 7,500 saved 6.83 s'
	}
	check "Ten thousand calls are drawn." many
fi
plan
