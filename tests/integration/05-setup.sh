#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# What scripts/setup does where a package is missing: with and without root, sudo and a terminal. apt-get, sudo and id are
# ours here, and write down how they were called; strace is what is missing.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1

mkdir -p "$tmp/repo" "$tmp/bin" "$tmp/sudo"
cp -r scripts "$tmp/repo/"
mkdir -p "$tmp/repo/build/cuda-12.9" "$tmp/repo/build/cuda-13.0" # the second NVRTC is there
IFS=: read -r -a places <<<"$PATH"
for ((i = ${#places[@]} - 1; i >= 0; i--)); do
	[[ ${places[i]} == */ccache ]] || ln -sf "${places[i]}"/* "$tmp/bin/" 2>/dev/null # a compiler there looks for the next one
done
rm -f "$tmp/bin"/{strace,sudo,id,apt-get,ldconfig} # ordinary users have no /sbin in PATH
for tool in fakechroot faketime fish csh zsh lintian musl-gcc redis-server nginx; do
	[ -e "$tmp/bin/$tool" ] || ln -s /bin/true "$tmp/bin/$tool"
done
cat >"$tmp/bin/id" <<'END'
#!/bin/sh
echo "${FAKE_UID:-1000}"
END
cat >"$tmp/bin/apt-get" <<END
#!/bin/sh
echo "apt-get \$*" >>"$tmp/calls"
case \$* in *' install strace') ln -sf /bin/true "$tmp/bin/strace" ;; esac
exit "\${FAKE_APT:-0}"
END
cat >"$tmp/sudo/sudo" <<END
#!/bin/sh
[ "\$1" != -n ] || exit 1
echo asks >>"$tmp/calls"
[ -z "\${FAKE_REFUSES:-}" ] || exit 1
exec "\$@"
END
chmod +x "$tmp/bin/id" "$tmp/bin/apt-get" "$tmp/sudo/sudo"

# set_up [COMMAND...]: what setup says in "said", with its exit status behind, and what it calls in "calls"
set_up() {
	: >"$tmp/calls"
	"$@" "$tmp/repo/scripts/setup" --test >"$tmp/said" 2>&1 </dev/null
	echo "exit $?" >>"$tmp/said"
	cat "$tmp/said" "$tmp/calls"
}
at_a_terminal() { script -qec "$*" /dev/null | tr -d '\r' && return "${PIPESTATUS[0]}"; }
shown() { # COMMAND: once, alone on its line, before the end with 1
	[ "$(grep -c 'strace' <(grep -v '^setup: installing' "$tmp/said"))" = 1 ] && [ "$(tail -n 1 "$tmp/said")" = 'exit 1' ] &&
		tail -n 2 "$tmp/said" | grep -qE "^$1( clang libclang-rt-dev)?$"
}

without=$tmp/bin with=$tmp/sudo:$tmp/bin
no_sudo() { set_up env PATH="$without" && shown 'apt-get update && apt-get -y --no-install-recommends install strace'; }
check "Without root and sudo, setup shows once what an administrator has to run, and fails." no_sudo
no_password() {
	set_up env PATH="$with" && ! grep -q asks "$tmp/calls" &&
		shown 'sudo apt-get update && sudo apt-get -y --no-install-recommends install strace'
}
check "Without a terminal, sudo is not let ask for a password, and the command is shown." no_password
went_on() { grep -q 'install strace$' "$tmp/calls" && [ "$(tail -n 1 "$tmp/said")" = 'exit 0' ]; }
needs "no script(1) here" command -v script
refused() {
	export FAKE_REFUSES=1
	set_up at_a_terminal env PATH="$with"
	unset FAKE_REFUSES
	[ "$(grep -c asks "$tmp/calls")" = 1 ] && shown 'sudo apt-get update && sudo apt-get -y --no-install-recommends install strace'
}
check_there "At a terminal, sudo may ask; where it refuses, the command is shown." refused
granted() { set_up at_a_terminal env PATH="$with" && went_on && grep -q asks "$tmp/calls"; }
check_there "At a terminal, what sudo grants is installed." granted
ln -sf /bin/true "$tmp/bin/strace"
rm -f "$tmp/bin/fish"
without_it() { set_up env PATH="$without" && grep -q 'install fish' "$tmp/said" && [ "$(tail -n 1 "$tmp/said")" = 'exit 0' ]; }
check "What only single tests need is named, and done without." without_it
ln -sf /bin/true "$tmp/bin/fish"
rm -f "$tmp/bin/strace"
by_root() { set_up env PATH="$without" FAKE_UID=0 && went_on; }
check "Root installs what is missing." by_root
twice() { set_up env PATH="$without" && ! grep -q 'install strace' "$tmp/calls" && [ "$(tail -n 1 "$tmp/said")" = 'exit 0' ]; }
check "What is there is not asked for again, and needs no rights." twice
rm -f "$tmp/bin/strace"
failing() { set_up env PATH="$without" FAKE_UID=0 FAKE_APT=100 && [ "$(tail -n 1 "$tmp/said")" = 'exit 1' ] && grep -q 'could not install strace' "$tmp/said"; }
check "A package that cannot be had is named." failing
plan
