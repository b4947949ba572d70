#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 60
# The ways to turn the cache on, each as its users take it: a second run of their program hits. Shells (nvrtccache env),
# Python (activate(), run -m, venv), Jupyter, conda's hooks, a container's root.
# shellcheck disable=SC2016 # text is for inner shells
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/command.sh"
. "$(dirname "$0")/notebook.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
LIFE=$BUILD/tests/life
NVRTC=$FAKE/13/libnvrtc.so.13
[ -x "$LIFE" ] && [ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"
unset LD_LIBRARY_PATH XDG_CACHE_HOME PYTHONPATH NVRTCCACHE_LIBRARY # the fixtures know where their NVRTC is
export HOME=$tmp/home COMMAND LIFE NVRTC SOURCE_DATE_EPOCH=1700000000
mkdir "$HOME" && cd "$tmp" || exit 1
PATH=$(dirname "$COMMAND"):$PATH

hits_again() { # COMMAND...: twice in a fresh cache
	fresh_cache
	"$@" && [ "$(stat_of misses)" -eq 1 ] && [ "$(stat_of hits_disk)" -eq 0 ] && "$@" && [ "$(stat_of misses)" -eq 1 ] && [ "$(stat_of hits_disk)" -eq 1 ] ||
		{ "$COMMAND" stats && return 1; }
}

# ---- nvrtccache env

dir=$tmp/"it's"'\a"$HOME`x`!*;&|<>(){}[]~#%^=?'$'\303\244'
mkdir "$dir" && cp "$LIBRARY" "$dir/cache.so" && cp "$LIBRARY" "$tmp/libnvrtccache.so" || exit 1
# What each shell does with it: on, a program, the variable, off, the variable.
on='eval "$("$COMMAND" env)"; "$LIFE" "$NVRTC" trivial 0; printenv LD_PRELOAD; eval "$("$COMMAND" env --off)"; printenv LD_PRELOAD; exit 0'
declare -A turns=([sh]=$on [bash]=$on [dash]=$on [zsh]=$on
	[fish]='$COMMAND env --fish | source; $LIFE $NVRTC trivial 0; printenv LD_PRELOAD; $COMMAND env --fish --off | source; printenv LD_PRELOAD; exit 0'
	[csh]='eval "`$COMMAND:q env --csh`"; $LIFE:q $NVRTC:q trivial 0; printenv LD_PRELOAD; eval "`$COMMAND:q env --csh --off`"; printenv LD_PRELOAD; exit 0')
glibc='/usr/$LIB/../../../..' # what env and activate() put before the path
in_shell() { # SHELL EXPECTED...: what it prints of LD_PRELOAD
	LC_ALL=C.UTF-8 "$1" -c "${turns[$1]}" >"$tmp/out" 2>"$tmp/err" && silent_err && printf '%s\n' "${@:2}" | diff - <(grep -v '^[a-z]* [0-9]' "$tmp/out")
}
for shell in sh bash dash zsh fish csh; do
	if command -v "$shell" >/dev/null; then
		check "$shell: nvrtccache env turns the cache on and --off turns it off." hits_again in_shell "$shell" "$glibc$LIBRARY"
		others() { LD_PRELOAD=libm.so.6:libdl.so.2 in_shell "$shell" "$glibc$LIBRARY:libm.so.6:libdl.so.2" libm.so.6:libdl.so.2; }
		check "$shell: what else is preloaded stays." others
		odd_path() { NVRTCCACHE_LIBRARY=$dir/cache.so hits_again in_shell "$shell" "$glibc$dir/cache.so"; }
		check "$shell: any path that the loader takes is quoted." odd_path
	else
		skip "$shell: nvrtccache env" "no $shell"
	fi
done
nothing_to_do() { (eval "$("$COMMAND" env)" && gives 0 env && silent_err && [ ! -s "$tmp/out" ]) && gives 0 env --off && silent_err && [ ! -s "$tmp/out" ]; }
check "Where it is on already, or off, nothing is printed." nothing_to_do
every_copy() {
	LD_PRELOAD="$LIBRARY /nowhere/libnvrtccache.so:libm.so.6 $tmp/libnvrtccache.so" "$COMMAND" env --off 2>/dev/null | diff - <(echo "export LD_PRELOAD=libm.so.6")
}
check "--off removes every copy of the library." every_copy
not_preloadable() {
	mkdir "$tmp/a blank" "$tmp/a:colon" && cp "$LIBRARY" "$tmp/a blank/" && cp "$LIBRARY" "$tmp/a:colon/" || return
	for name in "$tmp/a blank" "$tmp/a:colon"; do
		NVRTCCACHE_LIBRARY=$name/libnvrtccache.so gives 1 env && [ ! -s "$tmp/out" ] && err_has "'$name/libnvrtccache.so' cannot be preloaded: its path has a blank or a colon" || return
	done
	LD_PRELOAD=$'/nowhere\n/x.so' "$COMMAND" env >"$tmp/out" 2>"$tmp/err"
	[ $? = 1 ] && [ ! -s "$tmp/out" ] && err_has 'has a control character'
}
check "A path that cannot be preloaded is an error, and nothing is printed for the shell." not_preloadable

# ---- Python

python3 -c '' 2>/dev/null || { skip "activate()" "no python3" && plan; }
mkdir -p site/nvrtccache/{bin,lib} && cp "$top"/packaging/wheel/nvrtccache/*.py site/nvrtccache/ && cp "$COMMAND" site/nvrtccache/bin/ &&
	cp "$LIBRARY" site/nvrtccache/lib/ || exit 1
export PYTHONPATH=$tmp/site PYTHONDONTWRITEBYTECODE=1 TMPDIR=$tmp # ipykernel leaves a directory there
packed=$tmp/site/nvrtccache/lib/libnvrtccache.so
cat >kernel.py <<'END'
import ctypes, os
nvrtc, program = ctypes.CDLL(os.environ["NVRTC"]), ctypes.c_void_p()
failed = nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"extern \"C\" __global__ void one(int *a) { *a = 1; }", b"one.cu", 0, None, None)
if failed or nvrtc.nvrtcCompileProgram(program, 0, None):
    raise SystemExit("NVRTC fails")
END
# The script of a user: says how it was started, activates where it shall, says it again, compiles.
mkdir work bin && cat >work/train.py <<'END'
import hashlib, os, sys
print("started", sys.argv, sys.flags, sys.warnoptions, sys.executable, sys.prefix, os.getcwd(), os.getppid())
if os.path.exists("activate"):
    import nvrtccache
    nvrtccache.activate()
    assert os.environ["LD_PRELOAD"].split(":")[0] == "/usr/$LIB/../../../.." + nvrtccache.library_path()
environment = sorted(pair for pair in os.environ.items() if pair[0] not in ("LD_PRELOAD", "NVRTCCACHE_DIR"))
print("running", hashlib.sha256(repr(environment).encode()).hexdigest(), sys.stdin.read())
import kernel
END
cp kernel.py work/ && { echo '#!/usr/bin/env python3' && cat work/train.py; } >bin/train && chmod +x bin/train && mkdir -p work/package && cp work/train.py work/package/__main__.py || exit 1
cd work || exit 1
as_without() { # COMMAND...: with activate() all is as it is without, but that it begins twice
	rm -f activate && echo "from the shell" | "$@" >"$tmp/plain" 2>&1 && touch activate && fresh_cache || return
	for _ in 1 2; do echo "from the shell" | "$@" >"$tmp/cached" 2>&1 || { cat "$tmp/cached" && return 1; }; done
	sort -u "$tmp/plain" >"$tmp/plain.sorted" && sort -u "$tmp/cached" | diff "$tmp/plain.sorted" - || return
	[ "$(grep -c ^started "$tmp/cached")" = 2 ] && [ "$(stat_of misses)" -eq 1 ] && [ "$(stat_of hits_disk)" -eq 1 ] ||
		{ cat "$tmp/cached" && "$COMMAND" stats && return 1; }
}
check "activate() in a script: the same arguments, environment, directory and input; the second run hits." as_without python3 train.py a "b c" '' -m
check "Options of Python are the same." as_without python3 -O -B -W error -X dev -s train.py
check "python -m: the same." as_without python3 -m package a -c
check "python -c: the same." as_without python3 -c 'import train' a
check "Without sys.orig_argv, as in Python 3.9 and older: the same." as_without python3 -B -c 'import sys; vars(sys).pop("orig_argv", None); import train' a ''
executable() { PATH=$tmp/bin:$PATH PYTHONPATH=$PYTHONPATH:$PWD as_without train --epochs 2; }
check "A script that is executable: the same." executable
once() {
	fresh_cache && touch activate
	python3 -m nvrtccache run -- python3 train.py </dev/null >"$tmp/cached" 2>&1 && [ "$(grep -c ^started "$tmp/cached")" = 1 ] && [ "$(stat_of misses)" -eq 1 ] &&
		LD_PRELOAD=libm.so.6 python3 train.py </dev/null >"$tmp/cached" 2>&1 && [ "$(grep -c ^started "$tmp/cached")" = 2 ] && [ "$(stat_of hits_disk)" -eq 1 ]
}
check "Where it is preloaded already nothing starts again; what else is preloaded stays." once

refused() { # WORDS COMMAND...: raises that, in time, and has not started again
	timeout 300 "${@:2}" >"$tmp/out" 2>"$tmp/err"
	[ $? = 1 ] && err_has "^RuntimeError: .*$1" && [ "$(grep -c ^started "$tmp/out")" -le 1 ]
}
from_input() { refused "the script comes from standard input" python3 - <train.py && refused "an interactive session" python3 -qic 'import sys' <<<'import nvrtccache; nvrtccache.activate() or sys.exit(0)
sys.exit(1)'; }
check "It raises in a script from standard input, and in an interactive session." from_input
raises() { refused "$1" python3 -c "import ctypes, multiprocessing, os, sys, threading, time, nvrtccache
$2
nvrtccache.activate()"; }
check "It raises where a compiler is loaded already, and names it." raises "'$NVRTC' is loaded already" 'ctypes.CDLL(os.environ["NVRTC"])'
check "It raises where other threads run." raises "other threads are running" 'threading.Thread(target=time.sleep, args=(9,), daemon=True).start()'
check "It raises in a program that embeds Python." raises "part of another program" 'sys.executable = "/bin/true"'
worker() {
	cat >pool.py <<-'END'
		import multiprocessing, nvrtccache
		if __name__ == "__main__":
		    multiprocessing.set_start_method("spawn")
		    process = multiprocessing.Process(target=nvrtccache.activate)
		    process.start()
		    process.join()
		    raise SystemExit(process.exitcode)
	END
	refused "a worker process" python3 pool.py
}
lacks=$(without_processes)
check_there "It raises in a worker of multiprocessing." worker
moved() { printf 'import os, nvrtccache\nos.chdir("/")\nnvrtccache.activate()\n' >moved.py && refused "the working directory has changed" python3 moved.py; }
check "It raises where the script would not be found again." moved
unloadable() {
	NVRTCCACHE_LIBRARY="$tmp/a blank/libnvrtccache.so" raises "'.*a blank/libnvrtccache.so' cannot be preloaded" '' && echo text >"$tmp/text.so" &&
		NVRTCCACHE_LIBRARY=$tmp/text.so raises "the library cannot be loaded" '' && raises "was started without it" "os.environ['LD_PRELOAD'] = nvrtccache.library_path()"
}
check "It raises where the library cannot be preloaded." unloadable
late() { fresh_cache && python3 -c 'import ctypes, nvrtccache; ctypes.CDLL(nvrtccache.library_path()); nvrtccache.activate(); import kernel' && [ "$(stat_of misses)" -eq 1 ]; }
check "A copy that the program opens itself is not taken for one that is preloaded." late

run_module() {
	fresh_cache && python3 -m nvrtccache run -m kernel && NVRTCCACHE_STATS=1 python3 -m nvrtccache run --cudnn -c 'import kernel' a 2>"$tmp/err" && err_has '1 on disk' &&
		python3 -m nvrtccache run printf '%s|' a -m --cudnn | grep -qx 'a|-m|--cudnn|' && python3 -m nvrtccache run -- printf '%s|' -m | grep -qx -e '-m|'
}
check "python -m nvrtccache run: -m and -c run this Python." run_module
no_venv=
python3 -m venv --without-pip "$tmp/venv" >"$tmp/venv.log" 2>&1 || no_venv="no venv: $(tail -n 1 "$tmp/venv.log")"
of_venv() { lacks=$no_venv check_there "$@"; }
of_venv "activate() in a virtual environment: the same Python." as_without "$tmp/venv/bin/python" train.py
by_name() { PATH=$tmp/venv/bin:$PATH as_without python train.py; }
of_venv "Its Python, found by its name: the same." by_name
venv_activate() {
	sed -n '/^cat >>.venv/,/^END/p' "$top/docs/RECIPES.md" | sed "s#\.venv#$tmp/venv#" | bash || return
	for shell in bash ${zsh:+zsh}; do
		hits_again "$shell" -uec '. "$1"; [ -n "$LD_PRELOAD" ] && . "$1"; python kernel.py; deactivate; [ -z "${LD_PRELOAD:-}" ]' "$shell" "$tmp/venv/bin/activate" || return
	done
}
zsh=$(command -v zsh)
of_venv "The recipe's lines in its bin/activate turn the cache on, and deactivate turns it off." venv_activate

# ---- pytest and Jupyter, which come from PyPI into build/notebook

get_notebook
of_notebook() { lacks=${no_notebook:-} check_there "$@"; }
PATH=$PATH:$notebook/bin # behind: its python is no program's
cat >test_kernel.py <<'END'
def test_kernel():
    import kernel
END
run_pytest() { hits_again "$notebook/bin/python" -m nvrtccache run -m pytest -q -p no:cacheprovider test_kernel.py; }
of_notebook "python -m nvrtccache run -m pytest: the second run hits." run_pytest
in_conftest() {
	mkdir -p conf && echo 'import nvrtccache; nvrtccache.activate()' >conf/conftest.py && cp test_kernel.py conf/
	! "$notebook/bin/python" -m pytest -q -p no:cacheprovider conf >"$tmp/out" 2>&1 && grep -q "run -m pytest" "$tmp/out"
	local status=$?
	rm -r conf
	return "$status"
}
of_notebook "activate() under pytest raises, and says how to start it." in_conftest

python3 - kernel.py 'import nvrtccache; nvrtccache.activate()' <<'END'
import json, sys
for name, source in ("kernel", open(sys.argv[1]).read()), ("activate", sys.argv[2]):
    cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
    with open(name + ".ipynb", "w") as file:
        json.dump({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, file)
END
execute() { # NOTEBOOK KERNEL [OPTION...]
	timeout 300 "$notebook/bin/jupyter" nbconvert --execute --to markdown --stdout --ExecutePreprocessor.kernel_name="$2" "${@:3}" "$1" >"$tmp/out" 2>"$tmp/err" ||
		{ tail -n 5 "$tmp/err" && return 1; }
}
user_kernel() { "$notebook/bin/python" -m nvrtccache install-kernel --user | grep -qF "$HOME/.local/share/jupyter/kernels/nvrtccache" && hits_again execute kernel.ipynb nvrtccache; }
of_notebook "A notebook with the kernel that install-kernel makes: executed again, it hits." user_kernel
prefix_kernel() { # of an environment that has Jupyter's packages
	PYTHONPATH=$PYTHONPATH:$(echo "$notebook"/lib/python3*/site-packages) LD_PRELOAD=libm.so.6 "$tmp/venv/bin/python" -m nvrtccache install-kernel --sys-prefix --name cached --display-name Cached &&
		python3 -c 'import json, sys; kernel = json.load(open(sys.argv[1])); assert kernel["env"]["LD_PRELOAD"] == sys.argv[2] + ":libm.so.6" and kernel["argv"][0] == sys.argv[3] and kernel["display_name"] == "Cached", kernel' \
			"$tmp/venv/share/jupyter/kernels/cached/kernel.json" "$glibc$packed" "$tmp/venv/bin/python"
}
if [ -z "$no_venv" ]; then of_notebook "install-kernel --sys-prefix: a kernel of this environment; what else is preloaded stays." prefix_kernel; fi
no_kernel() { ! "$tmp/venv/bin/python" -m nvrtccache install-kernel >"$tmp/out" 2>"$tmp/err" && err_has 'has no ipykernel'; }
of_venv "install-kernel without ipykernel says so." no_kernel
in_notebook() { execute activate.ipynb nvrtccache && cp "$(find "$HOME" -name kernel.json)" "$tmp/kernel.json" && sed -i 's/"LD_PRELOAD"/"OTHER"/' "$(find "$HOME" -name kernel.json)" && execute activate.ipynb nvrtccache --allow-errors && grep -q 'RuntimeError.*install-kernel' "$tmp/out"; }
of_notebook "activate() in a notebook does nothing where it is on, and otherwise raises and names install-kernel." in_notebook

# ---- conda

if command -v python3 >/dev/null && python3 -c 'import yaml' 2>/dev/null; then
	conda=$tmp/conda
	mkdir -p "$conda/bin" "$conda/lib" && cp "$COMMAND" "$conda/bin/" && cp "$LIBRARY" "$conda/lib/" || exit 1
	python3 -c 'import sys, yaml; print("\n".join(line for line in yaml.safe_load(open(sys.argv[1]))["build"]["script"] if "etc/conda" in line))' "$top/packaging/conda/recipe.yaml" >"$tmp/hooks" &&
		PREFIX=$conda sh -eu "$tmp/hooks" || not_ok "The recipe's hooks can be made." "$tmp/hooks"
	# As conda does: the environment's bin is in PATH when its hooks are sourced.
	hooked() { # SHELL SUFFIX
		PATH=$conda/bin:$PATH LD_PRELOAD=libm.so.6 "$1" -c "source $conda/etc/conda/activate.d/nvrtccache.$2; \$LIFE \$NVRTC trivial 0; printenv LD_PRELOAD; source $conda/etc/conda/deactivate.d/nvrtccache.$2; printenv LD_PRELOAD" >"$tmp/out" &&
			printf '%s\n' "$glibc$conda/lib/libnvrtccache.so:libm.so.6" libm.so.6 | diff - <(grep -v '^[a-z]* [0-9]' "$tmp/out")
	}
	for pair in bash:sh zsh:sh fish:fish csh:csh; do
		needs "no ${pair%:*}" command -v "${pair%:*}"
		check_there "conda's hooks for ${pair%:*} turn the cache on and off." hits_again hooked "${pair%:*}" "${pair#*:}"
	done
else
	skip "conda's hooks turn the cache on and off." "no PyYAML"
fi

# ---- a container: a root that has a program, the archive, and a variable

root=$tmp/root
in_root() { # COMMAND...: with the variables of its image
	local enter=()
	[ "$(id -u)" = 0 ] || enter=(unshare --user --map-root-user)
	"${enter[@]}" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "${image[@]}" chroot "$root" "$@"
}
fill_root() {
	local file
	mkdir -p "$root"/{root,tmp,opt,bin} && cp "$LIFE" "$root/bin/" && cp "$FAKE"/13/libnvrtc* "$root/opt/" && "$top/packaging/tarball" "$BUILD" "$(uname -m)" "$tmp" >/dev/null || return
	for file in $(ldd "$LIFE" "$NVRTC" "$COMMAND" | grep -oE '/[^ ]+' | grep -v ':$' | sort -u); do
		mkdir -p "$root${file%/*}" && cp -L "$file" "$root$file" || return
	done
}
image=()
if ! fill_root >"$tmp/check.out" 2>&1; then
	not_ok "A program runs in a container's root." "$tmp/check.out"
elif ! in_root /bin/life /opt/libnvrtc.so.13 trivial 0 >"$tmp/check.out" 2>&1; then
	skip "A container's root: the second run hits." "no chroot here: $(tail -n 1 "$tmp/check.out")"
else
	container() {
		local add env
		add=$(sed -n 's/^ADD \(nvrtccache-.*\.tar\.gz\) \/opt$/\1/p' "$top/docs/RECIPES.md") env=$(sed -n 's/^ENV \(LD_PRELOAD=[^ ]*\)$/\1/p' "$top/docs/RECIPES.md")
		[ -n "$add" ] && [ -n "$env" ] && tar -C "$root/opt" -xzf "$tmp/${add/x86_64/$(uname -m)}" && image=("${env/\\/}") || return
		mkdir -p "$root"/usr/lib64 "$root"/usr/lib/{x86_64,aarch64}-linux-gnu # one of them is in the root of every glibc
		hit_in_root
	}
	hit_in_root() {
		NVRTCCACHE_DIR=$root/root/.cache/nvrtccache
		in_root /bin/life /opt/libnvrtc.so.13 trivial 0 && [ "$(stat_of misses)" -eq 1 ] && in_root /bin/life /opt/libnvrtc.so.13 trivial 0 && [ "$(stat_of hits_disk)" -eq 1 ]
	}
	check "The two lines for a Dockerfile: in that root the second run hits." container
fi
plan
