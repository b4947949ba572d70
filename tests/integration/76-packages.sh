#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 200
# What `make wheel` and `make deb` make: installed where nothing is, used, removed, and the same bytes each time. What is
# packed here is what `make` has built, without what a debugger wants of it; what `make portable` has built too, where it
# is there.
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
packaging=$top/packaging
arch=$(uname -m)
LIFE=$BUILD/tests/life
NVRTC=$FAKE/13/libnvrtc.so.13
[ -x "$LIFE" ] && [ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"
command -v strip >/dev/null && command -v readelf >/dev/null || skip_all "no binutils"
unset LD_LIBRARY_PATH XDG_CACHE_HOME # the fixtures know where their NVRTC is
export HOME=$tmp/home SOURCE_DATE_EPOCH=1700000000
mkdir "$HOME" "$tmp/built" "$tmp/out" && cd "$tmp" || exit 1
git -C "$top" log -1 >/dev/null 2>&1 || export DEBEMAIL=maintainers@users.noreply.invalid
for file in libnvrtccache.so nvrtccache; do strip -o "built/$file" "$BUILD/$file" || exit 1; done
version=$(sed -n 's/.*NVRTCCACHE_VERSION "\(.*\)"/\1/p' "$top/cache/version.h")

if [ -x "$BUILD/nvrtccache-agent" ]; then
	strip -o built/nvrtccache-agent "$BUILD/nvrtccache-agent" || exit 1
else
	no_agent="no agent: its libraries are not here"
fi

# The same files, that somebody else has built at another time.
mkdir -p elsewhere/{built,tmp} && cp built/* elsewhere/built/ && chmod 700 elsewhere/built/* && touch -d 2001-02-03 elsewhere/built/* || exit 1
same_twice() { # KIND [PACKAGE]
	(umask 077 && TMPDIR=$tmp/elsewhere/tmp TZ=Pacific/Auckland LC_ALL=C.UTF-8 "$packaging/$1/build" elsewhere/built "$arch" elsewhere/out ${2:+"$2"} >elsewhere/path) &&
		cmp "$(cat "$tmp/${2:-$1}.path")" "$(cat elsewhere/path)"
}
miss_then_hit() { # COMMAND...: runs programs with the cache
	fresh_cache
	"$@" run -- "$LIFE" "$NVRTC" trivial 0 && [ "$(stat_of misses)" -eq 1 ] && [ "$(stat_of hits_disk)" -eq 0 ] &&
		"$@" run -- "$LIFE" "$NVRTC" trivial 0 && [ "$(stat_of misses)" -eq 1 ] && [ "$(stat_of hits_disk)" -eq 1 ]
}

# ---- what they ask of a machine

floor() {
	local floor
	floor=$("$packaging/glibc" built/{libnvrtccache.so,nvrtccache}) && [[ $floor =~ ^2\.[0-9]+$ ]] || return
	# the loader of a glibc that is younger would refuse it
	readelf --wide --version-info built/{libnvrtccache.so,nvrtccache} | sed -n 's/.*Name: GLIBC_\([0-9.]*\)  Flags: .* Version: .*/\1/p' | sort -V | tail -n 1 | { read -r newest && printf '%s\n' "$newest" 2.17; } |
		sort -V | tail -n 1 | grep -qx "$floor"
}
check "The oldest glibc that will do is what the files ask for." floor

# ---- the wheel

python3 -c 'import pip' 2>/dev/null || no_wheel="no pip"
[ -n "${no_wheel:-}" ] || "$packaging/wheel/build" built "$arch" out >wheel.path 2>wheel.err || {
	[ $? = 77 ] && no_wheel=$(tail -n 1 wheel.err) || cat wheel.err
}
of_wheel() { if [ -n "${no_wheel:-}" ]; then skip "$1" "$no_wheel"; else check "$@"; fi; }

named() {
	local wheel platform
	wheel=$(cat wheel.path) && platform=manylinux_$("$packaging/glibc" built/{libnvrtccache.so,nvrtccache} | tr . _)_$arch && [[ $wheel == */nvrtccache-$version-py3-none-*$platform.whl ]]
}
of_wheel "A wheel is named by version, machine and glibc." named
of_wheel "Its bytes do not depend on the user, the time and the place of the build." same_twice wheel
sources() { # as Python 3.8 reads them
	python3 - "$packaging"/wheel/nvrtccache/*.py <<-'TEXT'
		import ast, sys
		for path in sys.argv[1:]:
		    with open(path) as file:
		        tree = ast.parse(file.read(), path, feature_version=(3, 8))
		    for node in ast.walk(tree):
		        assert not isinstance(node, ast.FunctionDef) or node.returns is not None, f"{path}: {node.name}() is not typed"
	TEXT
}
check "What is Python in it is typed, and good for 3.8." sources

if [ -z "${no_wheel:-}" ] && ! python3 -m venv venv >venv.log 2>&1; then
	rm -rf venv
	no_wheel="no venv: $(tail -n 1 venv.log)"
fi
inside() { find venv -path '*nvrtccache*' -not -name '*.pyc' -not -type d | sort; }
pth() { find venv -name "*.pth" | sort; }
installs() { pth >before && venv/bin/python -m pip -q --disable-pip-version-check install --no-index "$(cat wheel.path)" && inside >installed && [ -s installed ] && pth | diff before -; }
of_wheel "pip installs it, without a network, and nothing into Python's start." installs
of_wheel "python -m nvrtccache: a program compiles, and hits in the next process." miss_then_hit venv/bin/python -m nvrtccache
of_wheel "The script nvrtccache: the same." miss_then_hit venv/bin/nvrtccache
api() {
	local path
	path=$(venv/bin/python -c 'import nvrtccache; print(nvrtccache.library_path())') && cmp "$path" built/libnvrtccache.so && [[ $path == "$tmp"/venv/* ]] &&
		cmp "$(venv/bin/python -c 'import nvrtccache; print(nvrtccache.command_path())')" built/nvrtccache && fresh_cache && LD_PRELOAD=$path "$LIFE" "$NVRTC" trivial 0 &&
		[ "$(stat_of misses)" -eq 1 ]
}
of_wheel "library_path() is what can be preloaded." api
tells_version() { [ "nvrtccache $(venv/bin/python -c 'import nvrtccache; print(nvrtccache.__version__)')" = "$("$COMMAND" -V)" ]; }
of_wheel "__version__ is the command's." tells_version
passes_on() {
	local status=0
	venv/bin/python -m nvrtccache run -- sh -c 'exit 42' || status=$?
	[ "$status" = 42 ] && [ "$(venv/bin/python -m nvrtccache -V)" = "$("$COMMAND" -V)" ] && venv/bin/nvrtccache run -- printf '%s|' 'a b' '' "c'" | grep -qxF "a b||c'|"
}
of_wheel "Arguments and exit status are forwarded." passes_on
manual() { diff venv/share/man/man1/nvrtccache.1 "$top/docs/nvrtccache.1" && [ -s venv/share/bash-completion/completions/nvrtccache ] && grep -q Collet venv/lib/python3*/site-packages/nvrtccache-*.dist-info/licenses/copyright; }
of_wheel "It brings manual, completion, and the licences of what is in it." manual
real() {
	fresh_cache
	for _ in 1 2; do venv/bin/python -m nvrtccache run -- venv/bin/python -c "$compile" "$1" || return; done
	[ "$(stat_of misses)" -eq 1 ] && [ "$(stat_of hits_disk)" -eq 1 ]
}
compile='import ctypes, sys
nvrtc, program = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"extern \"C\" __global__ void one(int *a) { *a = 1; }", b"one.cu", 0, None, None) == 0
assert nvrtc.nvrtcCompileProgram(program, 0, None) == 0'
if eval "$("$top/scripts/nvrtc-env" 2>/dev/null)" && [ -n "${NVRTC_LIB:-}" ]; then
	of_wheel "A Python program with the real NVRTC: compiled once." real "$NVRTC_LIB/$NVRTC_SONAME"
else
	skip "A Python program with the real NVRTC: compiled once." "no NVRTC"
fi
goes() { venv/bin/python -m pip -q --disable-pip-version-check uninstall -y nvrtccache && inside >left && cat left && [ ! -s left ]; }
of_wheel "pip takes it away again, whole." goes

# What auditwheel finds out by itself: the libraries and versions that the files ask for.
get_auditwheel() {
	place=$top/build/tools/auditwheel-6.8.2
	[ -d "$place" ] || { python3 -m pip -q --disable-pip-version-check install --target "$place.$$" auditwheel==6.8.2 >/dev/null 2>&1 && mv -T "$place.$$" "$place" 2>/dev/null; }
	rm -rf "$place.$$"
	[ -d "$place" ] && auditwheel() { PYTHONPATH=$place PYTHONDONTWRITEBYTECODE=1 python3 -m auditwheel "$@"; }
}
agrees() { auditwheel show "$1" >shown && tr '\n' ' ' <shown | grep -q "platform tag: \"manylinux_$("$packaging/glibc" "$2"/{libnvrtccache.so,nvrtccache} | tr . _)_$3\"" || { cat shown && return 1; }; }
lacks=
[ -z "${no_wheel:-}" ] && get_auditwheel || lacks="${no_wheel:-pip cannot get auditwheel}"
check_there "auditwheel comes to the same tag." agrees "$(cat wheel.path)" built "$arch"

# ---- the Debian package

"$packaging/deb/build" built "$arch" out >deb.path 2>deb.err || { [ $? = 77 ] && no_deb=$(tail -n 1 deb.err) || cat deb.err; }
of_deb() { if [ -n "${no_deb:-}" ]; then skip "$1" "$no_deb"; else check "$@"; fi; }
described() {
	local deb
	deb=$(cat deb.path) && [ "$(dpkg-deb -f "$deb" Package Version Depends | sort)" = "Depends: libc6 (>= $("$packaging/glibc" built/{libnvrtccache.so,nvrtccache}))
Package: nvrtccache
Version: $version" ] && [ "$deb" = "$tmp/out/nvrtccache_${version}_$(dpkg-deb -f "$deb" Architecture).deb" ] && [ "$(dpkg-deb --fsys-tarfile "$deb" | tar -tv | grep -vc ' root/root ')" = 0 ]
}
of_deb "A package is named by version and machine, and needs glibc alone." described
of_deb "Its bytes do not depend on the user, the time and the place of the build." same_twice deb
if [ -z "${no_deb:-}" ] && command -v lintian >/dev/null; then
	# it leaves files of its tables behind
	mkdir lintian.tmp && TMPDIR=$PWD/lintian.tmp lintian --allow-root --show-overrides "$(cat deb.path)" >lintian.said 2>&1
	clean() { ! grep -v '^N:\|^O:' lintian.said; }
	check "lintian has nothing to say." clean
	overridden() { cat lintian.said && [ "$(grep -c '^O: ' lintian.said)" = 2 ]; }
	check "Only that the library has no version is overridden." overridden
else
	skip "lintian has nothing to say." "${no_deb:-no lintian}"
	skip "Only that the library has no version is overridden." "${no_deb:-no lintian}"
fi
# ---- the agent's, which is for this distribution

[ -n "${no_agent:-}" ] || "$packaging/deb/build" built "$arch" out nvrtccache-agent >nvrtccache-agent.path 2>agent.err || { [ $? = 77 ] && no_agent=$(tail -n 1 agent.err) || cat agent.err; }
of_agent() { if [ -n "${no_agent:-}" ]; then skip "$1" "$no_agent"; else check "$@"; fi; }
agent_described() {
	local deb package
	deb=$(cat nvrtccache-agent.path) && [ "$(dpkg-deb -f "$deb" Package Version Recommends)" = "Package: nvrtccache-agent
Version: $version
Recommends: nvrtccache" ] && [ "$(dpkg-deb --fsys-tarfile "$deb" | tar -tv | grep -vc ' root/root ')" = 0 ] || return
	# a package for each library that the agent needs, and no other; parts of the C library are of libc6
	readelf -dW built/nvrtccache-agent | sed -n 's/.*(NEEDED).*\[\(lib[a-z]*\).*/\1/p' | sed 's/^lib\(m\|dl\|pthread\)$/libc/' | sort -u >needed
	[ -s needed ] && dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/^ *\(lib[a-z]*\).*/\1/' | sort -u | diff needed -
}
of_agent "The agent is a package of its own, and asks for its libraries' packages." agent_described
of_agent "The bytes of the agent's do not depend on the user, the time and the place of the build." same_twice deb nvrtccache-agent
agent_lies() {
	dpkg-deb -x "$(cat nvrtccache-agent.path)" agent && (cd agent && find . -type f | sort) >files && diff - files <<-TEXT
		./usr/bin/nvrtccache-agent
		./usr/lib/systemd/user/nvrtccache-agent.service
		./usr/share/doc/nvrtccache-agent/NEWS.gz
		./usr/share/doc/nvrtccache-agent/changelog.gz
		./usr/share/doc/nvrtccache-agent/copyright
		./usr/share/man/man1/nvrtccache-agent.1.gz
	TEXT
	gunzip -c agent/usr/share/man/man1/nvrtccache-agent.1.gz | cmp - "$top/docs/nvrtccache-agent.1" && (cd agent && dpkg-deb --ctrl-tarfile "$(cat ../nvrtccache-agent.path)" | tar -xO ./md5sums | md5sum -c --quiet)
}
of_agent "It brings the agent, its manual and its unit." agent_lies
agent_runs() {
	[ "$(agent/usr/bin/nvrtccache-agent -V)" = "$("$BUILD/nvrtccache-agent" -V)" ] && fresh_cache &&
		agent/usr/bin/nvrtccache-agent --engine "redis+unix://$tmp/nowhere" --trust-engine --dir "$NVRTCCACHE_DIR" -- sh -c '[ -n "$NVRTCCACHE_AGENT" ] && exit 42'
	[ $? = 42 ]
}
of_agent "A program gets hits with the library in it." agent_runs
lacks=
[ -z "${no_agent:-}" ] && command -v systemd-analyze >/dev/null || lacks="${no_agent:-no systemd-analyze}"
unit_runs() {
	sed 's#^ExecStart=/usr/bin/nvrtccache-agent#ExecStart=/bin/true#' agent/usr/lib/systemd/user/nvrtccache-agent.service >nvrtccache-agent.service &&
		XDG_RUNTIME_DIR=$tmp timeout 300 systemd-analyze verify --user --man=no "$tmp/nvrtccache-agent.service"
}
check_there "systemd takes the unit of the package." unit_runs
lacks=
[ -z "${no_agent:-}" ] && command -v lintian >/dev/null || lacks="${no_agent:-no lintian}"
agent_clean() { mkdir -p lintian.tmp && TMPDIR=$PWD/lintian.tmp lintian --allow-root "$(cat nvrtccache-agent.path)" >lintian.said 2>&1 && ! grep -v '^N:' lintian.said; }
check_there "lintian has nothing to say of the agent's either." agent_clean

# ---- the Debian package, installed

if [ -z "${no_deb:-}" ] && [ "$(id -u)" != 0 ]; then
	no_deb="only root can install packages"
fi
root=$tmp/root
# its libc6 is this machine's; what dpkg keeps for itself is no trace of the package; dpkg wants programs of sbin in PATH
into_root() { PATH=$PATH:/usr/sbin:/sbin dpkg --root="$root" --force-depends --log=/dev/null "$@" >dpkg.log 2>&1 || { cat dpkg.log && return 1; }; }
lies_in_root() { (cd "$root" && find . -path ./var -prune -o -print | sort); }
mkdir -p "$root/var/lib/dpkg"/{info,updates,triggers} && touch "$root/var/lib/dpkg"/{status,available} && lies_in_root >before || exit 1
installed() { into_root -i "$(cat deb.path)" && (cd "$root" && find . -type f -path './usr/*') | sort >files && (cd "$root" && md5sum -c --quiet var/lib/dpkg/info/nvrtccache.md5sums) && [ "$(wc -l <files)" -eq "$(wc -l <"$root/var/lib/dpkg/info/nvrtccache.md5sums")" ]; }
of_deb "dpkg installs it." installed
of_deb "Its command finds its library among those of the machine: compiled once." miss_then_hit "$root/usr/bin/nvrtccache"
reads() { gunzip -c "$root/usr/share/man/man1/nvrtccache.1.gz" | cmp - "$top/docs/nvrtccache.1" && grep -q '^License: BSD-2-clause' "$root/usr/share/doc/nvrtccache/copyright" && gunzip -c "$root/usr/share/doc/nvrtccache/changelog.gz" | dpkg-parsechangelog -l - 2>/dev/null | grep -qx "Version: $version"; }
if [ -n "${no_deb:-}" ] || command -v dpkg-parsechangelog >/dev/null; then
	of_deb "Manual, changelog and licences can be read." reads
else
	skip "Manual, changelog and licences can be read." "no dpkg-parsechangelog"
fi
purged() { into_root --purge nvrtccache && lies_in_root >after && diff before after; }
of_deb "dpkg takes it away again, without a trace." purged

# ---- the archive

no_archive() {
	mkdir none bad && printf '#!/bin/sh\nexit 2\n' >bad/tar && chmod +x bad/tar || return
	! PATH=$PWD/bad:$PATH "$packaging/tarball" built "$arch" none && ls -A none >left && cat left && [ ! -s left ] &&
		"$packaging/tarball" built "$arch" none && tar -tzf none/*.tar.gz >listed && grep -q /lib/libnvrtccache.so listed
}
check "Where the archive cannot be made whole, there is none, and that is an error." no_archive

no_time() { # they are refused in words, and nothing is made
	local kind time
	mkdir timeless && rm -f left || return
	for kind in tarball deb/build wheel/build; do
		for time in '' never -1 0 315532799 4354819200 99999999999 123456789012 '1700000000 '; do
			! SOURCE_DATE_EPOCH=$time "$packaging/$kind" built "$arch" timeless >said 2>&1 && grep -qF "SOURCE_DATE_EPOCH='$time'" said &&
				[ -z "$(ls -A timeless)" ] || { echo "$kind took '$time'"; cat said; return 1; }
		done
	done
	SOURCE_DATE_EPOCH=0315532800 "$packaging/tarball" built "$arch" timeless && SOURCE_DATE_EPOCH=4354819199 "$packaging/tarball" built "$arch" timeless
}
check "A time that a package cannot have is refused in words." no_time

# ---- of files that are built for old machines

for machine in x86_64 aarch64; do
	portable=$top/build/portable/$machine
	if [ -n "${no_wheel:-}" ] || ! [ -e "$portable/libnvrtccache.so" ]; then
		skip "A wheel of what is portable, $machine: manylinux_2_17." "${no_wheel:-not built (make portable)}"
		continue
	fi
	portable_wheel() { "$packaging/wheel/build" "$portable" "$machine" out >portable.path && [[ $(cat portable.path) == *-py3-none-manylinux2014_$machine.manylinux_2_17_$machine.whl ]] && { ! declare -F auditwheel >/dev/null || agrees "$(cat portable.path)" "$portable" "$machine"; }; }
	check "A wheel of what is portable, $machine: manylinux_2_17." portable_wheel
done
plan
