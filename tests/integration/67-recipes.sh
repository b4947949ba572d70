#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The files of recipes/ do what docs/RECIPES.md says, and its blocks run, one after the other. As root they run as they are
# written, in a root that is laid over this machine's, with the library in /usr/local and an engine at cache:6379. Elsewhere
# places of this test stand for those that they name. What is not tried: a container, a cluster, a runner, a GPU.
# shellcheck disable=SC2013,SC2016
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/notebook.sh"
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$(dirname "$0")/../.." && pwd)
recipes=$top/recipes
LIFE=$BUILD/tests/life
NVRTC=$FAKE/13/libnvrtc.so.13
[ -x "$LIFE" ] && [ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"
unset LD_LIBRARY_PATH XDG_CACHE_HOME NVRTCCACHE_DIR # the fixtures know where their NVRTC is
chmod 711 "$tmp" # some of this is done as another user
prefix=$tmp/prefix
mkdir -p "$prefix/bin" "$prefix/lib" "$tmp/work" && cp "$COMMAND" "$prefix/bin/" && cp "$LIBRARY" "$prefix/lib/" || exit 1
cd "$tmp/work" || exit 1
mkdir -p "$tmp/copies" && cp "$BUILD"/tests/life "$FAKE"/13/libnvrtc* "$tmp/copies/" # where another user can read them
LIFE=$tmp/copies/life NVRTC=$tmp/copies/libnvrtc.so.13
PATH=$prefix/bin:$PATH

compile() { "$LIFE" "$NVRTC" trivial 0 "$@" >"$tmp/compiled" 2>&1 || { cat "$tmp/compiled" && return 1; }; }
at_home() { export HOME=$tmp/$1 && mkdir -p "$HOME"; }
# A recipe with places of this test in the place of its own.
placed() { # FILE SED-EXPRESSION...
	local file=$1 arguments=() expression
	shift
	for expression; do arguments+=(-e "$expression"); done
	sed "${arguments[@]}" "$recipes/$file" >"$tmp/${file##*/}"
}

known_variables() {
	grep -ohE 'NVRTCCACHE_[A-Z_]+' -r "$recipes" "$top/docs/RECIPES.md" | sort -u >"$tmp/named" &&
		grep -ohE 'NVRTCCACHE_[A-Z_]+' "$top/cache/settings.h" | sort -u | comm -23 "$tmp/named" - >"$tmp/unknown" && [ -s "$tmp/named" ] &&
		cat "$tmp/unknown" && [ ! -s "$tmp/unknown" ]
}
check "Recipes name no variable that there is not." known_variables
all_named() {
	local file bad=0
	for file in "$recipes"/*; do grep -qF "recipes/${file##*/}" "$top/docs/RECIPES.md" || { echo "$file" && bad=1; }; done
	for file in $(grep -oE 'recipes/[a-zA-Z.-]+[a-zA-Z]' "$top/docs/RECIPES.md" | sort -u); do [ -e "$top/$file" ] || { echo "no $file" && bad=1; }; done
	[ "$bad" = 0 ]
}
check "RECIPES.md names each file of recipes/, and no other." all_named

# ---- module file

modules=
for file in "${MODULESHOME:-/usr/share/modules}/init/bash" /usr/share/modules/init/bash /usr/share/lmod/lmod/init/bash; do
	[ -z "$modules" ] && [ -r "$file" ] && modules=$file
done
if [ -n "$modules" ]; then
	mkdir -p "$tmp/modulefiles/nvrtccache" && placed modulefile "s#^set prefix .*#set prefix $prefix#" && mv "$tmp/modulefile" "$tmp/modulefiles/nvrtccache/0.1.0"
	module_loads() {
		at_home module && env -i HOME="$HOME" PATH=/usr/bin:/bin TERM=dumb bash --norc -c '
			. "$1" && module use "$2" && module load nvrtccache && [ "$LD_PRELOAD" = "/usr/\$LIB/../../../..$3/lib/libnvrtccache.so" ] && [ "$(command -v nvrtccache)" = "$3/bin/nvrtccache" ] &&
				"$4" "$5" trivial 0 >/dev/null && "$4" "$5" trivial 0 >/dev/null && nvrtccache stats --json >stats.json && module help nvrtccache 2>&1 | grep -q doctor &&
				module unload nvrtccache && [ -z "${LD_PRELOAD:-}" ] && ! command -v nvrtccache' bash "$modules" "$tmp/modulefiles" "$prefix" "$LIFE" "$NVRTC" &&
			grep -qE '"hits_disk":1\b' stats.json
	}
	check "The module is loaded and a second process hits; unloaded, nothing is left." module_loads
else
	skip "The module is loaded and a second process hits; unloaded, nothing is left." "neither Environment Modules nor Lmod"
fi

# ---- Slurm

for file in slurm-task-prolog slurm-epilog; do placed $file "s#^prefix=.*#prefix=$prefix#" "s#^place=.*#place=$tmp/node#" "s#/var/tmp/#$tmp/node/#"; done
mkdir -m 1777 "$tmp/node"
task() { # what Slurm sets, then the task
	at_home slurm && (
		while read -r word assignment; do [ "$word" = export ] && export "${assignment?}"; done < <(sh "$tmp/slurm-task-prolog")
		compile -DTASK
	)
}
task_prolog() {
	task && task && [ ! -e "$HOME/.cache" ] && NVRTCCACHE_DIR=$tmp/node/nvrtccache-$(id -u) && export NVRTCCACHE_DIR && [ "$(stat_of hits_disk)" -eq 1 ] &&
		[ "$(LD_PRELOAD='' NVRTCCACHE_DIR=/own NVRTCCACHE_MAX_SIZE=1G sh "$tmp/slurm-task-prolog")" = "export LD_PRELOAD=/usr/\$LIB/../../../..$prefix/lib/libnvrtccache.so" ]
}
check "Slurm's task prolog: the next task hits on the node's disk; what the user has set stays." task_prolog
# The agent itself is another test's affair: here one says what it was started with.
agent_prolog() {
	mkdir -p "$tmp/agent/bin" "$tmp/agent/home/.config" && : >"$tmp/agent/home/.config/nvrtccache.keys" && : >"$tmp/agent/home/.config/nvrtccache.password" &&
		printf '#!/bin/sh\necho "$@" >"%s"\n' "$tmp/agent/started" >"$tmp/agent/bin/nvrtccache-agent" && chmod +x "$tmp/agent/bin/nvrtccache-agent" || return
	placed slurm-agent-prolog "s#^prefix=.*#prefix=$tmp/agent#" && [ -z "$(HOME=$tmp/nobody sh "$tmp/slurm-agent-prolog")" ] || return
	[ "$(HOME=$tmp/agent/home NVRTCCACHE_DIR=/node/kernels sh "$tmp/slurm-agent-prolog")" = "export NVRTCCACHE_AGENT=1" ] || return
	wait_for [ -s "$tmp/agent/started" ]
	grep -qx -- "--engine redis://cache:6379 --user nvrtccache-reader --password-file $tmp/agent/home/.config/nvrtccache.password --dir /node/kernels --key-file $tmp/agent/home/.config/nvrtccache.keys" "$tmp/agent/started"
}
check "Slurm's task prolog starts an agent only for users with a key." agent_prolog
agent_unit() {
	sed -n 's/^ExecStart=//p' "$recipes/nvrtccache-agent.service" | grep -q '^/usr/local/bin/nvrtccache-agent --engine [^ ]* --user nvrtccache-reader --password-file [^ ]* --dir [^ ]* --key-file [^ ]*$' || return
	sed "s#^ExecStart=[^ ]*#ExecStart=/bin/true#" "$recipes/nvrtccache-agent.service" >"$tmp/nvrtccache-agent.service" && HOME=$tmp XDG_RUNTIME_DIR=$tmp systemd-analyze verify --user --man=no "$tmp/nvrtccache-agent.service"
}
needs "no systemd-analyze" command -v systemd-analyze
check_there "systemd takes the agent's unit." agent_unit

epilog() {
	local user=65533 i
	NVRTCCACHE_DIR=$tmp/node/nvrtccache-$user && export NVRTCCACHE_DIR
	for i in 1 2 3 4; do
		setpriv --reuid=$user --regid=$user --clear-groups env LD_PRELOAD="$prefix/lib/libnvrtccache.so" HOME=/ "$LIFE" "$NVRTC" trivial 0 "-DN=$i" --fake-pad=200000 >"$tmp/compiled" 2>&1 ||
			{ cat "$tmp/compiled" && return 1; }
	done
	[ "$(entries)" -eq 4 ] && sed -i 's/512M/500K/' "$tmp/slurm-epilog" && (unset NVRTCCACHE_DIR && SLURM_JOB_UID=$user SLURM_JOB_GID=$user sh "$tmp/slurm-epilog") &&
		[ "$(entries)" -le 2 ] && [ "$(entries)" -ge 1 ] && [ -z "$(find "$NVRTCCACHE_DIR" ! -uid $user)" ] && (unset SLURM_JOB_UID && sh "$tmp/slurm-epilog")
}
lacks=
[ "$(id -u)" = 0 ] && setpriv --reuid=65533 --regid=65533 --clear-groups "$COMMAND" version >/dev/null 2>&1 || lacks="cannot become another user"
check_there "Slurm's epilog takes what a user has not used lately, as that user." epilog
unset NVRTCCACHE_DIR

# ---- systemd

mkdir -p "$tmp/units/sample.service.d" && printf '[Service]\nExecStart=/bin/true\n' >"$tmp/units/sample.service"
lacks=
command -v systemd-analyze >/dev/null && timeout 300 systemd-analyze verify --man=no "$tmp/units/sample.service" >/dev/null 2>&1 || lacks="no systemd-analyze that works"
unit() {
	cp "$recipes/systemd.conf" "$tmp/units/sample.service.d/nvrtccache.conf" &&
		timeout 300 systemd-analyze verify --man=no "$tmp/units/sample.service" >"$tmp/said" 2>&1
	! grep -E 'sample|nvrtccache' "$tmp/said" || return
	# that it is read at all
	echo 'CacheDirectoryMod=0700' >>"$tmp/units/sample.service.d/nvrtccache.conf"
	timeout 300 systemd-analyze verify --man=no "$tmp/units/sample.service" 2>&1 | grep -q 'nvrtccache.conf.*CacheDirectoryMod'
}
check_there "systemd has nothing to say against the drop-in." unit

# ---- containers

# kernels.nvb, as an image or a runner would be given it
at_home maker && (export LD_PRELOAD=$prefix/lib/libnvrtccache.so NVRTCCACHE_RECORD=1 && compile -DBAKED && compile -DWARMED -arch=sm_75) &&
	nvrtccache export kernels.nvb >/dev/null && tar -C "$HOME/.cache/nvrtccache" -cf kernels.tar . || exit 1
image() {
	local run
	cp kernels.tar "$prefix/" && run=$(sed -n 's/^RUN \(export NVRTCCACHE_DIR=.*\)/\1/p' "$recipes/Dockerfile" | sed "s#/opt/#$prefix/#g") && [ -n "$run" ] &&
		ARCHS=$(sed -n 's/^ARG ARCHS=//p' "$recipes/Dockerfile") LD_LIBRARY_PATH=$tmp/copies sh -ec "$run" &&
		[ -z "$(find "$prefix/nvrtccache" ! -perm -a+r -o -name '*.request')" ] || return
	at_home container && (export NVRTCCACHE_LOWER=$prefix/nvrtccache LD_PRELOAD=$prefix/lib/libnvrtccache.so && compile -DBAKED && compile -DWARMED -arch=sm_100) &&
		[ "$(stat_of hits_disk)" -eq 2 ]
}
check "What the Dockerfile bakes in is hit, also for an architecture that the run had not." image
another_user() {
	local other=(setpriv --reuid=65533 --regid=65533 --clear-groups env NVRTCCACHE_LOWER="$prefix/nvrtccache" \
		NVRTCCACHE_DIR="$tmp/volume/nvrtccache")
	mkdir -m 777 "$tmp/volume" && "${other[@]}" LD_PRELOAD="$prefix/lib/libnvrtccache.so" "$LIFE" "$NVRTC" trivial 0 -DBAKED >"$tmp/compiled" 2>&1 &&
		"${other[@]}" nvrtccache stats --json >"$tmp/counts" && grep -E '"(hits_disk|misses)":' "$tmp/counts" && grep -qE '"hits_disk":1\b' "$tmp/counts"
}
lacks=
[ "$(id -u)" = 0 ] && setpriv --reuid=65533 --regid=65533 --clear-groups "$COMMAND" version >/dev/null 2>&1 || lacks="cannot become another user"
check_there "Also by another user, with a volume that all users can write." another_user

# ---- the blocks of RECIPES.md, in a world of their own: ~/work with a program, an environment and what an earlier run has left

world=$tmp/world
get_notebook
make_world() {
	mkdir -p "$world"/{work,shared,site/nvrtccache/bin,site/nvrtccache/lib} && cp kernels.nvb "$world/work/" && cp "$top"/packaging/wheel/nvrtccache/*.py "$world/site/nvrtccache/" &&
		cp "$COMMAND" "$world/site/nvrtccache/bin/" && cp "$LIBRARY" "$world/site/nvrtccache/lib/" && cd "$world/work" || return
	cat >train.py <<-'END'
		import ctypes, os
		nvrtc, program = ctypes.CDLL(os.environ["NVRTC"]), ctypes.c_void_p()
		failed = nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void one(int *a) { *a = 1; }", b"one.cu", 0, None, None)
		if failed or nvrtc.nvrtcCompileProgram(program, 0, None):
		    raise SystemExit("NVRTC fails")
	END
	cp train.py cupy.py && printf 'def test_train():\n    import train\n' >test_train.py && printf 'test:\n\tpython3 train.py\n' >Makefile && python3 -m venv --without-pip .venv
}
# Root, library, agent and engine as RECIPES.md has them: $over is laid over / in a mount namespace that ends with the block.
lay_over() {
	[ "$(id -u)" = 0 ] && over=$memory/over && mkdir -p "$over"/{up/{etc,usr/local/{bin,lib}},work,root} || return
	cp "$COMMAND" "$over/up/usr/local/bin/" && cp "$LIBRARY" "$over/up/usr/local/lib/" && (cat /etc/hosts && echo 127.0.0.1 cache) >"$over/up/etc/hosts" || return
	[ ! -e "$BUILD/nvrtccache-agent" ] || cp "$BUILD/nvrtccache-agent" "$over/up/usr/local/bin/"
	command -v sudo >/dev/null || { printf '#!/bin/sh\nexec "$@"\n' >"$over/up/usr/local/bin/sudo" && chmod +x "$over/up/usr/local/bin/sudo"; }
	sed 's/CHANGE-ME-[A-Z]*/PASSWORD/' "$recipes/redis.conf" >"$tmp/redis.conf"
	cat >"$tmp/enter" <<-'END'
		over=$1 engine=$2 && shift 2 && mount -t overlay -o "lowerdir=/,upperdir=$over/up,workdir=$over/work" overlay "$over/root" || exit
		for place in /proc /dev "${0%/enter}" "$top"; do mkdir -p "$over/root$place" && mount --rbind "$place" "$over/root$place" || exit; done
		if [ -n "$engine" ]; then
			# a network of its own, whose lo is down
			python3 -c 'import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH14x", b"lo", 0x41))' &&
				redis-server "$engine" --port 6379 --save "" --daemonize yes --dir "${0%/enter}" --pidfile "${0%/enter}/redis.pid" >/dev/null || exit
			trap 'kill "$(cat "${0%/enter}/redis.pid")"' EXIT
			until redis-cli ping >/dev/null 2>&1; do sleep 0.05; done
		fi
		chroot "$over/root" "$@"
	END
	top=$top unshare -mn --propagation private bash "$tmp/enter" "$over" "" true
}
in_memory
as_written=
if lay_over >"$tmp/over.log" 2>&1; then as_written=1; fi
in_world() { # COMMAND...
	local inside=() path=$PATH
	[ -z "$as_written" ] || { path=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin && inside=(unshare -mn --propagation private bash "$tmp/enter" "$over" "${engine:-}"); }
	top=$top "${inside[@]}" env -C "${place_of_block:-$world/work}" -u MAKEFLAGS -u MAKELEVEL HOME="$world" NVRTC="$NVRTC" PATH="$world/work/.venv/bin:$path" \
		PYTHONPATH="$world/site:$(echo "$notebook"/lib/python3*/site-packages)" PYTHONDONTWRITEBYTECODE=1 TMPDIR="$tmp" timeout 300 "$@" </dev/null
}
placed_block() {
	if [ -n "$as_written" ]; then cat "$1/text"; else
		sed "s#/usr/local/lib/libnvrtccache\.so#$prefix/lib/libnvrtccache.so#g; s#/shared/#$world/shared/#g; s#^export NVRTCCACHE_DIR=#umask 077; &#" "$1/text"
	fi
}
block() {
	case $(<"$1/language") in
	sh) in_world bash -euo pipefail -c "$(placed_block "$1")" ;;
	fish | csh) in_world "$(<"$1/language")" -c "$(placed_block "$1"); python3 train.py" ;;
	python) placed_block "$1" >"$world/work/block.py" && in_world python3 block.py ;;
	json) in_world python3 -c 'import json, os, sys; [one] = json.loads(sys.argv[1])["configurations"]; os.environ.update(one["env"]); os.execlp("python3", "python3", "train.py")' "$(placed_block "$1")" ;;
	Dockerfile) ;; # 87-activate builds such a root
	*) echo "which language is that?" && return 1 ;;
	esac
}
blocks=$(python3 "$here/documents.py" blocks "$tmp/blocks" "$top/docs/RECIPES.md") && make_world >"$tmp/check.out" 2>&1 || {
	not_ok "There is a world for the blocks of RECIPES.md." "$tmp/check.out"
	blocks=0
}
cd "$tmp/work" || exit 1
hits=8
for ((i = 1; i <= blocks; i++)); do
	place=$tmp/blocks/$i
	needs=$(grep -oiE 'needs (a cluster|an engine|docker|root)' "$place/above" | tr '\n' ' ')
	lacks=$needs engine='' place_of_block=''
	case $needs in # in the clone, where recipes/ is
	*root*) [ -z "$as_written" ] || ! [ "$BUILD" -ef "$top/build" ] || lacks='' place_of_block=$top ;;
	*engine*) [ -z "$as_written" ] || ! [ -e "$BUILD/nvrtccache-agent" ] || ! command -v redis-server >/dev/null || lacks='' engine=$tmp/redis.conf ;;
	esac
	! grep -q systemctl "$place/text" || [ -d /run/systemd/system ] || lacks='no systemd'
	case $(<"$place/language") in
	fish | csh) command -v "$(<"$place/language")" >/dev/null || lacks="no $(<"$place/language")" hits=$((hits - 1)) ;;
	*) ! grep -qE 'pytest|install-kernel' "$place/text" || lacks+=${no_notebook:-} ;;
	esac
	check_there "$(<"$place/where"), $(head -n 1 "$place/text")" block "$place"
done
few_need() { [ "$(grep -lciE 'needs (a cluster|an engine|docker|root)' "$tmp"/blocks/*/above | wc -l)" -le $((blocks / 3)) ]; }
check "Two thirds of the blocks are run." few_need
hit_in_world() { [ "$(NVRTCCACHE_DIR=$world/.cache/nvrtccache stat_of hits_disk)" -ge "$hits" ]; }
check "Of their programs all but the first hit." hit_in_world

# ---- YAML

python3 -c 'import yaml' 2>/dev/null || {
	skip "Manifest and CI files do what they say." "no PyYAML"
	plan
}
# steps of a file as shell: prints what an expression finds
yaml() { python3 -c 'import sys, yaml; document = yaml.safe_load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$recipes/$1" "$2"; }

pod() {
	local at='document["spec"]["template"]["spec"]' shell
	[ "$(yaml kubernetes.yaml "sorted({m['name'] for k in ('initContainers', 'containers') for c in $at[k] for m in c['volumeMounts']}) == sorted(v['name'] for v in $at['volumes'])")" = True ] &&
		[ "$(yaml kubernetes.yaml "$at['initContainers'][0]['command']")" = "['/bin/sh', '-ec']" ] && shell=$(yaml kubernetes.yaml "$at['initContainers'][0]['args'][0]") || return
	mkdir -p "$tmp/library" "$tmp/pod" && shell=$(sed "s#/usr/local/#$prefix/#g; s#/library/#$tmp/library/#g; s#/opt/#$prefix/#g" <<<"$shell") &&
		NVRTCCACHE_DIR=$tmp/pod/nvrtccache-1000 sh -ec "$shell" && export NVRTCCACHE_DIR=$tmp/pod/nvrtccache-1000 && (export LD_PRELOAD=$tmp/library/libnvrtccache.so && compile -DBAKED) &&
		[ "$(stat_of hits_disk)" -eq 1 ]
	local status=$?
	unset NVRTCCACHE_DIR
	return $status
}
image_volume() { # the mount has what the stage `cache` copies
	local at='document["spec"]' place=$tmp/mounted variables
	[ "$(yaml kubernetes-image.yaml "sorted(m['name'] for c in $at['containers'] for m in c['volumeMounts']) == sorted(v['name'] for v in $at['volumes'])")" = True ] &&
		[ "$(grep -c '^COPY --from=.* /nvrtccache/$\|^COPY --from=.* /lib/$' "$recipes/Dockerfile")" = 2 ] &&
		mkdir -p "$place/lib" && cp "$prefix/lib/libnvrtccache.so" "$place/lib/" && cp -r "$prefix/nvrtccache" "$place/" &&
		variables=$(yaml kubernetes-image.yaml "'\n'.join(e['name'] + '=' + e['value'] for e in $at['containers'][0]['env'])" | sed "s#/kernels/#$place/#; s#/cache/#$tmp/own/#") &&
		mkdir "$tmp/own" && mapfile -t variables <<<"$variables" && env "${variables[@]}" "$LIFE" "$NVRTC" trivial 0 -DBAKED >/dev/null &&
		(export "${variables[@]:1}" && unset LD_PRELOAD && [ "$(stat_of hits_disk)" -eq 1 ])
}
check "A pod hits in an image volume." image_volume
check "The pod's init container leaves library and results, and the container hits." pod

# make test of a runner
printf 'test:\n\t%s %s trivial 0 -DTESTED >/dev/null\n' "$LIFE" "$NVRTC" >Makefile
runner() { # STEPS-OF-SHELL
	at_home "runner-$((++runs))" && bash -ec "$1" >"$tmp/said" 2>&1 || { cat "$tmp/said" && return 1; }
}
runs=0
github() {
	local shell
	shell=$(yaml github.yml '"\n".join(s["run"] for s in document["jobs"]["test"]["steps"] if s["name" if "name" in s else "uses"] in ("Import", "Tests", "What was missed, and export"))') &&
		rm -f kernels.nvb && runner "$shell" && [ -s kernels.nvb ] && [ "$(stat_of misses)" -eq 1 ] && runner "$shell" && [ "$(stat_of misses)" -eq 0 ] && [ "$(stat_of hits_disk)" -eq 1 ]
}
check "GitHub's steps: the second run, on a new machine, hits." github
gitlab() {
	local shell
	shell=$(yaml gitlab.yml '"\n".join(line for part in ("before_script", "script", "after_script") for line in document["test"][part])') && rm -f kernels.nvb &&
		runner "$shell" && [ -s kernels.nvb ] && runner "$shell" && [ "$(stat_of misses)" -eq 0 ] && [ "$(stat_of hits_disk)" -eq 1 ]
}
check "GitLab's job: the same." gitlab
plan
