#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the library shows to the loader: its needs, its names and their versions, its flags.
. "$(dirname "$0")/lib.sh"
readelf=${READELF:-readelf}
map=$BUILD/interpose/door/libnvrtccache.map
case $("$readelf" -h "$LIBRARY" | sed -n 's/.*Machine: *//p') in
*X86-64*) oldest=GLIBC_2.2.5 loader='' ;;
AArch64) oldest=GLIBC_2.17 loader=ld-linux-aarch64.so.1 ;; # which has the stack's guard, and is there before any other
*) skip_all "no such architecture is known here" ;;
esac

"$readelf" -dW "$LIBRARY" >"$tmp/dynamic"
"$readelf" -lW "$LIBRARY" >"$tmp/segments"
"$readelf" -VW "$LIBRARY" >"$tmp/versions"
"$readelf" --dyn-syms -W "$LIBRARY" >"$tmp/symbols"
# One line per definition: name@version or name@@version, and nothing of what is imported.
awk '$1 ~ /^[0-9]+:$/ && $7 != "UND" && $8 != "" && $7 != "ABS" { print $8 }' "$tmp/symbols" | sort >"$tmp/defined"
awk '$1 ~ /^[0-9]+:$/ && $7 == "ABS" { print $8 }' "$tmp/symbols" | sort >"$tmp/absolute"
awk '$1 ~ /^[0-9]+:$/ && $7 == "UND" { print $8 }' "$tmp/symbols" | sed 's/@.*//' | sort >"$tmp/undefined"
# Lines "index name flags" of the version definitions.
sed -n '/^Version definition section/,/^Version needs section/p' "$tmp/versions" |
	sed -nE 's/.*Flags: ([A-Za-z]+).*Index: ([0-9]+).*Name: (.*)$/\2 \3 \1/p' >"$tmp/nodes"

none() { # no line of FILE matches
	! grep -E -- "$1" "$2"
}

needs_libc_alone() {
	sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$tmp/dynamic" >"$tmp/needed"
	cat "$tmp/needed"
	[ "$(grep -vxF "$loader" "$tmp/needed")" = libc.so.6 ]
}
check "It needs libc alone." needs_libc_alone

exports_belong_to_nodes() {
	! grep -vE '^(nvrtc[A-Z][A-Za-z]*@libnvrtc(\.alt)?\.so\.[0-9.]+|__nvrtcCPEx@libnvrtc(\.alt)?\.so\.[0-9.]+|(nvJitLink[A-Z][A-Za-z]*|__nvJitLink[A-Z][A-Za-z]*_[0-9]+_0)@libnvJitLink\.so\.[0-9]+|dlv?sym@@?GLIBC_[0-9.]+|nvrtccache_[a-z_]+@@?NVRTCCACHE_PRIVATE)$' "$tmp/defined"
}
check "It exports only compilers' functions, dlsym, dlvsym and its private symbol, all versioned." exports_belong_to_nodes
absolute_are_nodes() {
	! sed 's/@.*//' "$tmp/absolute" | grep -vxF -f <(awk '{ print $2 }' "$tmp/nodes")
}
check "Nothing else is absolute than the names of the nodes." absolute_are_nodes
nodes_are_those_of_the_script() { # the preprocessed script has one "name {" per node
	grep -oE '[A-Za-z_0-9.]+ *\{' "$map" | tr -d ' {' >"$tmp/named"
	awk '$3 != "BASE" { print $2 }' "$tmp/nodes" >"$tmp/made"
	[ -s "$tmp/named" ] && diff "$tmp/named" "$tmp/made"
}
needs "no version script in the build directory" [ -r "$map" ]
check_there "Its version nodes are exactly those of the version script, in that order." nodes_are_those_of_the_script

first_node_is_private() {
	awk '$1 == 2 { print $2 }' "$tmp/nodes" >"$tmp/first"
	cat "$tmp/nodes"
	[ -s "$tmp/first" ] && ! grep -qE '^(libnv|GLIBC)' "$tmp/first"
}
check "The first version node is private, so that no unversioned reference binds to a function of ours." first_node_is_private
nodes_come_later() {
	grep -E ' libnv[A-Za-z.]*\.so\.' "$tmp/nodes" >"$tmp/later"
	cat "$tmp/later"
	[ -s "$tmp/later" ] && awk '$1 < 3 { bad = 1 } END { exit bad }' "$tmp/later"
}
check "All nodes of compilers have index 3 or more." nodes_come_later
has_sonames() {
	local soname
	for soname in libnvrtc.so.11.2 libnvrtc.so.12 libnvrtc.so.13 libnvJitLink.so.12 libnvJitLink.so.13; do
		awk '{ print $2 }' "$tmp/nodes" | grep -qxF "$soname" || { echo "no $soname"; return 1; }
	done
}
check "There is a node for each soname of today." has_sonames
check "Every function of a compiler is hidden: none has a default version." none '^(__)?(nvrtc|nvJitLink)[A-Z][A-Za-z0-9_]*@@' "$tmp/defined"
base="CreateProgram DestroyProgram CompileProgram AddNameExpression GetLoweredName GetPTX GetPTXSize GetCUBIN GetCUBINSize
	GetProgramLog GetProgramLogSize"
ir="GetLTOIR GetLTOIRSize GetOptiXIR GetOptiXIRSize"
nvvm="GetNVVM GetNVVMSize"
pch="GetPCHCreateStatus GetPCHHeapSizeRequired SetFlowCallback SetPCHHeapSize"
node_has_exactly() { # NODE FUNCTION...: what every release of that soname has, and nothing that one of them lacks
	local node=$1
	shift
	printf 'nvrtc%s\n' "$@" | sort >"$tmp/expected"
	sed -n "s/^\(nvrtc.*\)@$node\$/\1/p" "$tmp/defined" | sort | diff "$tmp/expected" -
}
# shellcheck disable=SC2086
check "libnvrtc.so.11.2 has what 11.2 has." node_has_exactly libnvrtc.so.11.2 $base
# shellcheck disable=SC2086
check "libnvrtc.so.12 has what 12.0 has." node_has_exactly libnvrtc.so.12 $base $ir $nvvm
# shellcheck disable=SC2086
check "libnvrtc.so.13 has what 13.0 has." node_has_exactly libnvrtc.so.13 $base $ir $pch
link="AddData AddFile Complete Create Destroy GetErrorLog GetErrorLogSize GetInfoLog GetInfoLogSize GetLinkedCubin
	GetLinkedCubinSize GetLinkedPtx GetLinkedPtxSize"
# Hosts name the release of their header: only the names that every release of the soname has may be here, or a host
# would load that the loader refuses without us.
link_has_exactly() { # NODE FORM...: printf's formats of the names
	local node=$1 form function
	shift
	for form in "$@"; do
		for function in $link; do
			# shellcheck disable=SC2059
			printf "$form\n" "$function"
		done
	done | sort >"$tmp/expected"
	sed -n "s/^\(.*\)@$node\$/\1/p" "$tmp/defined" | sort | diff "$tmp/expected" -
}
check "libnvJitLink.so.12 has the names of 12.0, and no later ones." link_has_exactly libnvJitLink.so.12 __nvJitLink%s_12_0
check "libnvJitLink.so.13 has the names of 13.0 and the plain ones." link_has_exactly libnvJitLink.so.13 nvJitLink%s __nvJitLink%s_13_0
both_versions() {
	grep -E "^$1@" "$tmp/defined"
	grep -qxF "$1@$oldest" "$tmp/defined" && grep -qxF "$1@@GLIBC_2.34" "$tmp/defined"
}
check "dlsym is there in its oldest and its present version." both_versions dlsym
check "dlvsym is there in its oldest and its present version." both_versions dlvsym
check "It exports no other function of the loader: dlopen is never interposed." none '^(dlopen|dlmopen|dlclose|dladdr)' "$tmp/defined"

check "No symbol of the digest libraries is left open." none '^(blake2|XXH)' "$tmp/undefined"
check "No symbol of the digest libraries is exported." none '^(blake2|XXH)' "$tmp/defined"
check "No thread-local variable needs a call." none '__tls_get_addr|__tls_get_offset' "$tmp/undefined"
check "It never ends the process and prints nothing." none '^(exit|_exit|_Exit|abort|__assert_fail|printf|puts|fprintf|perror)$' "$tmp/undefined"
check "No stack is executable." grep -qE 'GNU_STACK +0x0+ 0x0+ 0x0+ 0x0+ 0x0+ RW +' "$tmp/segments"
check "No segment is writable and executable." none 'LOAD.* RWE ' "$tmp/segments"
check "It has a RELRO segment." grep -q GNU_RELRO "$tmp/segments"
check "All its slots are bound at load." grep -qE 'FLAGS(_1)?\).*NOW' "$tmp/dynamic"
check "It is never unloaded." grep -qE 'FLAGS_1\).*NODELETE' "$tmp/dynamic"
check "It has no text relocations." none 'TEXTREL' "$tmp/dynamic"
one_constructor() { # and crt's frame_dummy, where there is one
	sed -n 's/.*(INIT_ARRAYSZ) *\([0-9]*\).*/\1/p' "$tmp/dynamic" >"$tmp/constructors"
	cat "$tmp/constructors"
	local size
	size=$(cat "$tmp/constructors")
	[ "${size:-0}" -le 16 ] && none 'PREINIT_ARRAY' "$tmp/dynamic"
}
# The names that an object gives to others; of one that nothing reaches the linker leaves none in the library.
reached() { # OBJECT
	nm -g --defined-only "$1" | awk '{ print $3 }' | grep -qxF -f - "$tmp/linked"
}
all_reached() { # says which are not
	local object unreached=0
	nm "$LIBRARY" | awk '{ print $NF }' | sed 's/@.*//' | sort -u >"$tmp/linked"
	while read -r object; do
		reached "$object" || { echo "nothing reaches $object"; unreached=1; }
	done
	return "$unreached"
}
linked_objects() { # by their sources: a build directory keeps what has been removed
	(cd "$(dirname "$0")/../.." && find cache keygen interpose -name '*.c' -not -path 'cache/tools/*') |
		sed "s|\(.*\)\.c|$BUILD/\1.o|"
}
lacks=
nm "$LIBRARY" 2>&1 | grep -q ' t ' || lacks="the library is stripped"
check_there "The library reaches every object that it is linked from." eval 'linked_objects | all_reached'
check_there "An object that only the command needs is not reached." eval '! all_reached <<<"$BUILD/cache/tools/prune.o"'
check "It has one constructor besides the one of the C run-time." one_constructor
plan
