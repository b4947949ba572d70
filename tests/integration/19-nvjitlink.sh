#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# nvJitLink, by a fake one (tests/fake/link) that does what the real one does where a host can see it. Each session runs
# without us, with an empty cache, with the filled one, and verified: all that the host (tests/hosts/linker.c) is told must
# be the same. Lines "really" say how often the library has compiled PTX, and has linked LTO-IR.
. "$(dirname "$0")/lib.sh"
unset LD_LIBRARY_PATH # the hosts know where their libraries are
so12=$FAKE/link/12.9/libnvJitLink.so.12
so13=$FAKE/link/13.2/libnvJitLink.so.13
hosts=$BUILD/tests/hosts

lookup=("$hosts/linker" "lib=$so13" names=plain)
lookup12=("$hosts/linker" "lib=$so12" names=plain)
host=("${lookup[@]}")

really() { # FILE [LIBRARY]
	sed -n "s/^really ${2:-link} //p" "$1"
}

lines_of() {
	grep -vE '^really |Segmentation fault' "$1"
}

run() { # NAME COMMAND...: into $tmp/NAME
	local name=$1
	shift
	{
		"$@" >"$tmp/$name" 2>&1
		echo "exit $?" >>"$tmp/$name"
	} 2>/dev/null
}

alike() { # NAME...: as without us
	local name
	for name in "$@"; do
		diff <(lines_of "$tmp/bare") <(lines_of "$tmp/$name") || return
	done
}

# The same lines in all runs, and the library works so often in them: texts and links, three times.
session() { # SENTENCE "BARE COLD WARM" WORD...
	local sentence=$1 counts=$2
	shift 2
	fresh_cache
	run bare timeout 600 "${host[@]}" "$@"
	run cold preloaded "${host[@]}" "$@"
	run warm preloaded "${host[@]}" "$@"
	NVRTCCACHE_VERIFY=1 run verified preloaded "${host[@]}" "$@"
	if ! alike cold warm verified >"$tmp/difference"; then
		not_ok "$sentence" "$tmp/difference"
	elif [ "$(really "$tmp/bare" | xargs), $(really "$tmp/cold" | xargs), $(really "$tmp/warm" | xargs)" != "$counts" ]; then
		{
			echo "wanted $counts, not $(really "$tmp/bare" | xargs), $(really "$tmp/cold" | xargs), $(really "$tmp/warm" | xargs)"
			cat "$tmp/warm"
			"$COMMAND" stats
		} >"$tmp/difference" 2>&1
		not_ok "$sentence" "$tmp/difference"
	elif [ "$(stat_of errors.mismatch)" != 0 ]; then
		"$COMMAND" stats >"$tmp/difference" 2>&1
		not_ok "$sentence" "$tmp/difference"
	else
		ok "$sentence"
	fi
}

# How often the library works for these words, with what the cache has.
works() { # WORD...
	preloaded "${host[@]}" "$@" >"$tmp/run" 2>&1
	really "$tmp/run"
}

# With what the cache has, and without us: the same lines, and the library works so often.
as_bare() { # SENTENCE COUNTS WORD...
	local sentence=$1 counts=$2
	shift 2
	run bare timeout 600 "${host[@]}" "$@"
	run warm preloaded "${host[@]}" "$@"
	if alike warm >"$tmp/difference" && [ "$(really "$tmp/warm")" = "$counts" ]; then
		ok "$sentence"
	else
		cat "$tmp/warm" >>"$tmp/difference"
		not_ok "$sentence" "$tmp/difference"
	fi
}

arch=option=-arch=sm_90
lto=("$arch" option=-lto create $'lto=one\n' $'lto=two\n@warn linked' complete get destroy)
ptx=("$arch" create $'ptx=8.0\none\n@warn first' $'ptx=8.0\ntwo\n@warn second' complete get destroy)

# ---- Ways in ----

for way in lookup lookup12 "13.0 default" "12.9 12_3" "12.9 12_0" "13.2 13_1" linked-12_0 linked-13 linked-13_0; do
	case $way in
	lookup) host=("${lookup[@]}") ;;
	lookup12) host=("${lookup12[@]}") ;;
	*default) host=("$hosts/linker" "lib=$FAKE/link/13.0/libnvJitLink.so.13" from=default names=plain) ;;
	linked*) host=("$hosts/linker-${way#linked-}") ;;
	12*) host=("$hosts/linker" "lib=$so12" "names=${way#* }") ;;
	*) host=("$hosts/linker" "lib=$so13" "names=${way#* }") ;;
	esac
	session "LTO-IR is linked once ($way)." "0 1, 0 1, 0 0" "${lto[@]}"
	session "PTX is compiled once ($way)." "2 0, 2 0, 0 0" "${ptx[@]}"
done
host=("${lookup[@]}")
session "Names of several releases are mixed over one handle." "2 0, 2 0, 0 0" "$arch" create names=13_0 $'ptx=8.0\none' \
	names=13_2 $'ptx=8.0\ntwo' names=plain complete names=13_1 get names=13_2 destroy
session "A result of a call by one name is a hit for another name." "2 1, 1 1, 0 0" "$arch" option=-lto create $'lto=one\n' complete destroy \
	options= "$arch" names=13_0 create $'ptx=8.0\none' complete get destroy names=13_1 create $'ptx=8.0\none' complete get destroy
session "A name of a release that the library is not is not there." "0 0, 0 0, 0 0" names=13_3 names=12_0 names=13_x

host=("$hosts/linker-12_8")
session "A host linked with the names of 12.8, which are not exported here, is cached." "0 1, 0 1, 0 0" "${lto[@]}"
session "So are its texts." "2 0, 2 0, 0 0" "${ptx[@]}"
session "So are handles that are made by names that it looks up." "1 0, 1 0, 0 0" names=12_9 \
	"$arch" create $'ptx=8.0\none' complete names=linked get names=plain destroy
export LD_LIBRARY_PATH=$FAKE/link/12.0
session "With a library that lacks those names it fails as without us." ", , " "${lto[@]}"
check "The missing symbol is reported." grep -q 'undefined symbol: __nvJitLink.*_12_8, version libnvJitLink.so.12' "$tmp/cold"
host=("$hosts/linker-12_0")
session "A weak reference finds nothing that the library lacks." "0 0, 0 0, 0 0" weak version
check "Nothing it is." grep -q 'nvJitLinkVersion is not there' "$tmp/warm"
session "12.0 links LTO-IR once." "0 1, 0 1, 0 0" "${lto[@]}"
session "12.0 compiles PTX every time: where it ends to it is not known." "2 0, 2 0, 2 0" "${ptx[@]}"
session "12.0 reads PTX up to its size, and no byte after it is read." "1 0, 1 0, 1 0" "$arch" create end=page $'ptx=8.0\none' complete get
session "Links of cubins are not cached with 12.0." "0 1, 0 1, 0 1" "$arch" option=-lto create $'lto=one\n' cubin=two complete get
unset LD_LIBRARY_PATH
session "It is there where the library has it." "0 0, 0 0, 0 0" weak version
check "There it is." grep -q 'nvJitLinkVersion is there' "$tmp/warm"
host=("${lookup[@]}")

# ---- Life ----

session "A handle without inputs is bypassed." "0 0, 0 0, 0 0" "$arch" create complete get destroy
session "One with -lto says that there is no module, again and again." "0 0, 0 0, 0 0" "$arch" option=-lto create complete get
check "Nothing of that is cached, because the watch saw no call of the library." test "$(entries)" = 0
session "Links of cubins alone are bypassed." "0 0, 0 0, 0 0" "$arch" create cubin=one cubin=two complete get destroy
check "They cost no look-up." test "$(entries)" = 0
session "A refused option leaves a handle that has a log." "0 0, 0 0, 0 0" "$arch" option=-odd create logs destroy
session "So does an architecture that is missing." "0 0, 0 0, 0 0" create logs destroy create=none
session "Getters fail before anything is there as they do without us." "1 0, 1 0, 0 0" "$arch" create get null \
	$'ptx=8.0\none' get null complete get null destroy
host=("${lookup12[@]}")
session "12.9 has codes of its own for that." "1 1, 1 1, 0 0" "$arch" option=-lto create get null $'ptx=8.0\none' \
	get null $'lto=one\n' complete get null destroy
host=("${lookup[@]}")
session "With -ptx the text is given out." "0 1, 0 1, 0 0" "$arch" option=-lto option=-ptx create $'lto=one\n' complete get
session "A second completion fails, and what was linked is still there." "1 0, 1 0, 1 0" "$arch" create $'ptx=8.0\none' \
	complete get complete get destroy
session "Inputs after a completion are added to the real handle, which has really completed." "1 1, 1 1, 1 1" "$arch" option=-lto \
	create $'ptx=8.0\none' $'lto=one\n' complete $'ptx=8.0\nlate' get $'lto=late\n' get complete get destroy
session "A file after a completion likewise." "0 1, 0 1, 0 1" "$arch" option=-lto create $'lto=one\n' complete \
	"file=2=$tmp/missing" logs destroy
session "A handle with deferred steps can be destroyed." "2 0, 2 0, 0 0" "$arch" create $'ptx=8.0\none' $'ptx=8.0\ntwo' logs destroy \
	destroy
session "Two handles are independent." "3 2, 3 2, 0 0" "$arch" option=-lto create handle=1 create handle=0 \
	$'ptx=8.0\none' handle=1 $'lto=two\n' $'ptx=8.0\ntwo' handle=0 $'ptx=8.0\nthree' $'lto=four\n' complete handle=1 \
	complete get handle=0 get destroy handle=1 get destroy
session "The same handle again in one process." "2 0, 1 0, 0 0" "$arch" create $'ptx=8.0\none' complete get destroy \
	create $'ptx=8.0\none' complete get destroy
check "That is a hit in memory." test "$(stat_of hits_memory)" = 4 # two in the cold run, two in the warm one
check "Its share of the counts is nvJitLink's." test "$(stat_of nvjitlink.hits_memory)" = 4
say_arch() { "$COMMAND" ls --json >"$tmp/list" && ! grep '"arch":null\|"options":\[\]' "$tmp/list" && grep -q '"arch":"sm_' "$tmp/list"; }
check "Results after steps have a description of the request, too." say_arch
session "Threads, each with a handle." "8 0, 8 0, 0 0" "$arch" threads=8
session "A child and its parent both continue with the parent's handle." "1 0 1 0, 1 0 1 0, 0 0 0 0" "$arch" create \
	$'ptx=8.0\none' fork logs complete get destroy
session "A child performs the deferred steps of its parent." "2 0 2 0, 2 0 2 0, 2 0 2 0" "$arch" create \
	$'ptx=8.0\none' $'ptx=8.0\ntwo' fork logs inspect complete get destroy
session "12.9 and 13.2 in one process." "2 0, 1 0, 0 0" "$arch" create $'ptx=8.0\none' complete get destroy "lib=$so12" \
	names=12_3 handle=1 create $'ptx=8.0\none' complete get lib="$so13" names=plain handle=0 create $'ptx=8.0\none' \
	complete get destroy
check "Each had a result of its own." test "$(entries)" = 4
host=("${lookup12[@]}" "$arch" create $'ptx=8.0\none' complete destroy options= "lib=$so13" names=plain)
session "PTX is compiled once with 13.2 after 12.9." "2 0, 2 0, 0 0" "${ptx[@]}"
host=("${lookup[@]}")
session "nvJitLink and NVRTC are cached in one process, side by side." "2 0, 2 0, 0 0" "${ptx[@]:0:3}" \
	"nvrtc=$FAKE/13/libnvrtc.so.13" "${ptx[@]:3}"
check "NVRTC worked once as well." \
	test "$(really "$tmp/bare" nvrtc) $(really "$tmp/cold" nvrtc) $(really "$tmp/warm" nvrtc)" = "1 1 0"

# ---- Steps ----

session "Logs are read between steps, and pile up." "2 0, 2 0, 0 0" "$arch" create $'ptx=8.0\none\n@warn first' logs \
	$'ptx=8.0\ntwo\n@warn second' logs complete logs get destroy
fresh_cache
check "A step is compiled." test "$(works "$arch" create $'ptx=8.0\none\n@warn first' destroy)" = "1 0"
as_bare "A step that is a miss performs the deferred step before it, and its result is right." "2 0" "${ptx[@]}"
as_bare "Then all of it hits." "0 0" "${ptx[@]}"
as_bare "A completion that is a miss performs the deferred steps." "3 0" "${ptx[@]:0:4}" $'ptx=8.0\nthree' complete get
as_bare "Then it is a hit." "0 0" "${ptx[@]:0:4}" $'ptx=8.0\nthree' complete get
as_bare "Steps alone are there." "0 0" "${ptx[@]:0:4}" logs destroy
as_bare "Steps that were compiled already are not completed for what is only read." "0 0" "${ptx[@]:0:3}" logs get destroy
session "LTO-IR after PTX is a step." "1 1, 1 1, 0 0" "$arch" option=-lto create $'ptx=8.0\none\n@warn first' \
	$'lto=two\n@warn second' logs complete get destroy
fresh_cache
check "PTX with -lto is compiled." test "$(works "$arch" option=-lto create $'ptx=8.0\none' $'lto=two\n' destroy)" = "1 0"
as_bare "A link after steps that were hits." "1 1" "$arch" option=-lto create $'ptx=8.0\none' $'lto=two\n' complete get
as_bare "A cubin after a step that was a hit." "1 0" "$arch" option=-lto create $'ptx=8.0\none' cubin=two logs destroy
for code in 3 4 12; do
	session "A step that fails with $code, then others." "2 0, 2 0, $([ $code = 4 ] && echo 0 0 || echo 2 0)" "$arch" create \
		$'ptx=8.0\none\n@fail '$code$' error: broken' logs get $'ptx=8.0\ntwo' logs complete get destroy
done
session "A step that fails without saying why is not cached." "1 0, 1 0, 1 0" "$arch" create $'ptx=8.0\none\n@fail 4 strange' \
	complete get
session "Nor is one for which there was no memory." "1 0, 1 0, 1 0" "$arch" create \
	$'ptx=8.0\none\n@fail 4 error: out of memory' complete get
for code in 4 5 6; do
	session "A link that fails with $code is cached." "0 1, 0 1, 0 0" "$arch" option=-lto create \
		$'lto=one\n@end '$code$' error: it failed' complete get destroy
	session "So is one of PTX that has no name." "1 0, 1 0, 0 0" noname "$arch" create \
		$'ptx=8.0\none\n@end '$code$' error: it failed' complete get
	session "One of PTX with a name is not: nvJitLink may have read it again." "1 0, 1 0, 1 0" "$arch" create \
		$'ptx=8.0\none\n@end '$code$' error: it failed' complete get
done
session "A link that fails otherwise is not." "0 1, 0 1, 0 1" "$arch" option=-lto create \
	$'lto=one\n@end 7 error: it failed' complete get destroy
session "An input of another type is refused each time." "1 0, 1 0, 1 0" "$arch" create $'ptx=8.0\none' raw=2=odd logs \
	raw=1=odd raw=3=odd raw=4=odd raw=99=odd raw=10=odd logs complete get
session "LTO-IR without -lto likewise." "1 0, 1 0, 0 0" noname "$arch" create $'lto=odd\n' $'ptx=8.0\none' complete get
session "Fatbins and what is of any type are steps." "2 0, 2 0, 0 0" "$arch" create $'fatbin=.version 8.0\none' \
	$'any=.version 8.0\ntwo' complete get
session "What a fatbin says of its size counts." "2 0, 2 0, 2 0" "$arch" create $'fatbin-3=.version 8.0\none' \
	$'anyfat-3=.version 8.0\ntwo' complete get
session "What is printed on stderr is printed each time." "2 0, 2 0, 2 0" "$arch" create $'ptx=8.0\none\n@stderr text' \
	$'ptx=8.0\ntwo' complete get
session "So while linking." "0 1, 0 1, 0 1" "$arch" option=-lto create $'lto=one\n@stderr text\n' complete get
session "What is printed of names is of those that the host gave." "2 0, 2 0, 2 0" "$arch" create name=first \
	$'ptx=8.0\n@symbol same' name=second $'ptx=8.0\n@symbol same' complete get
session "So where cubins and files were added before." "1 0, 1 0, 1 0" "$arch" option=-lto create name=first \
	$'cubin=@symbol same' name=second $'cubin=@symbol same' $'ptx=8.0\n@symbol same' complete logs
session "A name that the host refills is read again where a symbol is nowhere." "1 0, 1 0, 1 0" "$arch" create \
	name=first $'ptx=8.0\n@warn of\n@wants away' logs refill=other complete logs
check "No byte of it is stored." test -z "$(grep -rl other "$NVRTCCACHE_DIR")"
session "And where a symbol is there twice." "2 0, 2 0, 2 0" "$arch" create name=first $'ptx=8.0\n@symbol same' \
	refill=other name=second $'ptx=8.0\n@symbol same' complete logs
session "A name that is longer by then is read to its end." "1 0, 1 0, 1 0" "$arch" create "name=first, and more" \
	refill=first $'ptx=8.0\n@wants away' "refill=other, and more" complete logs
session "So is that of a cubin." "1 0, 1 0, 1 0" "$arch" create name=first $'cubin=@wants away' refill=other \
	noname $'ptx=8.0\none' complete logs
check "No byte of that is stored." test -z "$(grep -rl other "$NVRTCCACHE_DIR")"
session "That of LTO-IR is copied." "0 1, 0 1, 0 0" "$arch" option=-lto create name=first $'lto=one\n@end 5 error: no' \
	refill=other complete logs
session "Where the log does not name an input, a link is a hit." "2 0, 2 0, 0 0" "$arch" create name=first \
	$'ptx=8.0\none\n@warn of' refill=other name=second $'ptx=8.0\ntwo' refill=second complete get
session "So is an input that ptxas rejects after another one." "2 0, 2 0, 0 0" "$arch" create name=first $'ptx=8.0\none' \
	name=second $'ptx=8.0\n@fail 4 error: no' logs

# ---- What nobody knows ----

session "An unknown function sees all added inputs." "2 0, 2 0, 2 0" "${ptx[@]:0:4}" complete inspect get destroy
check "It found an output." grep -qx 'inspect 0, 1' "$tmp/warm"
session "Inputs that are added after it are added to the real handle." "2 0, 2 0, 2 0" "${ptx[@]:0:3}" inspect "${ptx[@]:3}"
session "A program that asks for __nvJitLinkAPI is bypassed." "1 1, 1 1, 1 1" "$arch" option=-lto create $'api=one\n' \
	$'ptx=8.0\none' complete get destroy
check "Nothing of it is cached." test "$(entries)" = 0
session "So from there on." "2 1, 2 1, 1 1" "$arch" create $'ptx=8.0\none' complete destroy option=-lto create \
	$'api=one\n' $'ptx=8.0\none' complete get destroy

# ---- Options that work on ----

session "Links that are timed are not cached." "0 1, 0 1, 0 1" "$arch" option=-lto option=-time create $'lto=one\n' complete get
session "Nor is anything in them." "1 0, 1 0, 1 0" "$arch" option=-time create $'ptx=8.0\none' complete get
for option in -Xnvvm=-inline-info -Xnvvm=-Xopt -future=1 -Xptxas=-odd -lto=1; do
	session "With $option nothing is cached, and nothing after it." "0 2, 0 2, 0 2" "$arch" option=-lto option=$option create \
		$'lto=one\n' complete get destroy options= "$arch" option=-lto create $'lto=two\n' complete get destroy
done
fresh_cache
check "A link without it is cached." test "$(works "${lto[@]}")" = "0 1"
run warm preloaded "${host[@]}" "$arch" option=-lto option=-Xnvvm=-inline-info create $'lto=odd\n' complete destroy options= \
	"${lto[@]}"
check "A hit gives the result of a process without the option." sh -c \
	"grep -q '^cubin 0' '$tmp/warm' && ! grep -q remark '$tmp/warm'"

# ---- Where texts end ----

for end in inside behind page; do
	words=("end=$end")
	[ $end = page ] && words+=(end=inside)
	session "PTX with a NUL $end." "1 0, 1 0, 0 0" "$arch" create "${words[@]}" $'ptx=8.0\none' complete get
done
session "PTX without a terminating NUL is rejected, and nothing of the handle is cached." "1 0, 1 0, 1 0" "$arch" create end=open \
	$'ptx=8.0\nodd' logs end=behind $'ptx=8.0\none' complete get
session "So is an input of any type that is PTX without a NUL." "1 0, 1 0, 1 0" "$arch" create end=open \
	$'any=.version 8.0\nodd' logs end=behind $'ptx=8.0\none' complete get
session "No byte after other inputs is read." "2 1, 2 1, 0 0" "$arch" option=-lto create end=page $'lto=one\n' cubin=two \
	$'fatbin=.version 8.0\nthree' anylto=four $'anyfat=.version 8.0\nfive' complete get
session "No byte after an input of an unknown form is read." "0 1, 0 1, 0 1" "$arch" option=-lto create end=page any=BCstrange $'lto=one\n' complete
session "PTX before what cannot be read kills as without us." ", , " "$arch" create end=page $'ptx=8.0\none' complete get
check "It is killed." grep -qx 'exit 139' "$tmp/warm"

# ---- Keys ----

one=("$arch" option=-O2 option=-lto create $'ptx=8.0\none' $'lto=two\n' complete get destroy)
with() { # VARIABLE WORD...: before `one`, the words
	works "$@" "${one[@]}"
}
fresh_cache
check "A first link is made." test "$(works "${one[@]}")" = "1 1"
check "It is there." test "$(works "${one[@]}")" = "0 0"
other() { # SENTENCE WORKS WORD...
	local sentence=$1 wanted=$2
	shift 2
	check "$sentence" test "$(works "$@")" = "$wanted"
	as_bare "$sentence (cached)" "0 0" "$@"
}
other "Another PTX is another result." "1 1" "$arch" option=-O2 option=-lto create $'ptx=8.0\nonE' $'lto=two\n' complete get
other "Other LTO-IR is another link." "1 1" "$arch" option=-O2 option=-lto create $'ptx=8.0\none' $'lto=twO\n' complete get
other "Another order of the inputs is another result." "1 1" "$arch" option=-O2 option=-lto create $'lto=two\n' $'ptx=8.0\none' \
	complete get
other "Another option is another result." "1 1" "$arch" option=-O3 option=-lto create $'ptx=8.0\none' $'lto=two\n' complete get
other "An option less is another result." "1 1" "$arch" option=-lto create $'ptx=8.0\none' $'lto=two\n' complete get
other "Another order of options is another result." "1 1" option=-O2 "$arch" option=-lto create $'ptx=8.0\none' $'lto=two\n' \
	complete get
other "Another name of an input is another result." "1 1" name=other "${one[@]}"
other "No name is another result." "1 1" noname "${one[@]}"
other "An empty name is another result." "1 1" name= "${one[@]}"
other "A NUL inside PTX gives another result than a NUL after it." "1 1" end=inside "${one[@]:0:4}" $'ptx=8.0\none' end=behind \
	$'lto=two\n' complete get
other "An input more is another result." "2 1" "${one[@]:0:6}" $'ptx=8.0\nthree' complete get
other "An input of another type is another result." "1 1" "$arch" option=-O2 option=-lto create $'any=.version 8.0\none' \
	$'lto=two\n' complete get
other "Inputs that are cut elsewhere are another result." "0 1" "$arch" option=-lto create $'lto=one\ntwo\n' $'lto=three\n' \
	complete get
other "Cut here, too." "0 1" "$arch" option=-lto create $'lto=one\n' $'lto=two\nthree\n' complete get
other "What was said of an input that was copied is part of it." "1 1" "$arch" option=-lto create cubin=zero "${one[@]:4}"
host=("$hosts/linker" "lib=$FAKE/link/13.2b/libnvJitLink.so.13" names=plain)
other "Another build of the library gives another result." "1 1" "${one[@]}"
host=("${lookup[@]}")
other "In another rounding mode it is another result." "1 1" round=up "${one[@]}"
export NVRTCCACHE_NAMESPACE=other
other "Another namespace has results of its own." "1 1" "${one[@]}"
unset NVRTCCACHE_NAMESPACE
for variable in NV_NVVM_VERSION NVJITLINK_TRACE_MESSAGES LIBNVVM_NVVM_VERSION DUMP_KNOBS_TO_FILE CAN_FINALIZE_DEBUG \
	FINALIZER_USE_LEGACY_ELF_BUILDER NVVM_IR_VER_CHK; do
	export $variable=set
	other "With $variable it is another result." "1 1" "${one[@]}"
	unset $variable
done
large=$(printf '%070000d' 1)
other "Large inputs count whole." "1 1" "$arch" option=-lto create $'ptx=8.0\n'"$large" "lto=${large}"$'\n' complete get
other "To the last byte." "1 1" "$arch" option=-lto create $'ptx=8.0\n'"${large%1}2" "lto=${large}"$'\n' complete get
other "Of either." "1 1" "$arch" option=-lto create $'ptx=8.0\n'"$large" "lto=${large%1}2"$'\n' complete get

# Each of them at the moment when the library reads it
moment() { # SENTENCE WORD...: the link, and then with the words that came first left out: not that
	local sentence=$1
	shift
	fresh_cache
	check "$sentence: a miss." test "$(works "$@")" = "1 1"
	as_bare "$sentence: cached." "0 0" "$@"
}
bare_moment() { # SENTENCE WORD...: not what moment() kept
	local sentence=$1
	shift
	as_bare "$sentence: no hit without it." "1 1" "$@"
}
set_it=setenv=NV_NVVM_VERSION=set
moment "The environment when a handle is made" "$set_it" "${one[@]:0:4}" "unsetenv=NV_NVVM_VERSION" "${one[@]:4}"
bare_moment "The environment when a handle is made" "${one[@]}"
for variable in LIBNVVM_NVVM_VERSION CAN_FINALIZE_DEBUG; do
	for add in 4 5; do
		moment "$variable at input $add" "${one[@]:0:add}" "setenv=$variable=set" "${one[@]:add:1}" "unsetenv=$variable" \
			"${one[@]:add+1}"
		bare_moment "$variable at input $add" "${one[@]}"
	done
done
moment "The environment when LTO-IR is copied" "${one[@]:0:4}" setenv=LIBNVVM_NVVM_VERSION=set "${one[@]:5:1}" \
	unsetenv=LIBNVVM_NVVM_VERSION "${one[@]:4:1}" "${one[@]:6}"
bare_moment "The environment when LTO-IR is copied" "${one[@]:0:4}" "${one[@]:5:1}" "${one[@]:4:1}" "${one[@]:6}"
moment "The environment when it is completed" "${one[@]:0:6}" setenv=NVVM_IR_VER_CHK=set "${one[@]:6}"
bare_moment "The environment when it is completed" "${one[@]}"
thirds=("$arch" option=-lto create $'ptx=8.0\n@third\n' $'lto=@third\n' complete get destroy)
moment "The rounding mode at an input" "${thirds[@]:0:3}" round=up "${thirds[@]:3:1}" round=near "${thirds[@]:4}"
bare_moment "The rounding mode at an input" "${thirds[@]}"
moment "The rounding mode at the end" "${thirds[@]:0:5}" round=up "${thirds[@]:5}"
bare_moment "The rounding mode at the end" "${thirds[@]}"
# Between a step that was served and its making up
half=("${thirds[@]:0:3}" round=up "${thirds[@]:3:1}" round=near)
fresh_cache
check "A step in another rounding mode is made." test "$(works "${half[@]}" destroy)" = "1 0"
as_bare "It is performed in that mode." "1 1" "${half[@]}" "${thirds[@]:4}"
as_bare "The result is not cached, because the present mode is another." "1 1" "${half[@]}" "${thirds[@]:4}"
fresh_cache
check "A step is made." test "$(works "${one[@]:0:5}" destroy)" = "1 0"
run warm preloaded "${host[@]}" "${one[@]:0:5}" setenv=NVVM_IR_VER_CHK=set "${one[@]:5}"
check "The result of a step that was repeated in another environment is not cached." test "$(entries)" = 1

fresh_cache
check "Steps are made." test "$(works "${ptx[@]:0:4}" destroy) $(entries)" = "2 0 2"
run warm preloaded "${host[@]}" "${ptx[@]:0:4}" whim=refuse complete
check "The result of steps without a record of the process-wide state is not cached." test "$(entries)" = 2
check "A link with a rejected copied input is linked." test "$(works "${lto[@]:0:3}" whim=refuse $'lto=zero\n' whim= "${lto[@]:3}")" = "0 1"
as_bare "The return code for a copied input is part of the key." "0 1" "${lto[@]:0:3}" $'lto=zero\n' "${lto[@]:3}"

# ---- Files ----

ltoir() { # TEXT
	printf '\355CN\177'
	head -c 60 /dev/zero
	echo "$1"
}

printf '.version 8.0\nfile' >"$tmp/a.ptx"
ltoir file >"$tmp/a.lto"
file=("$arch" option=-lto create "file=2=$tmp/a.ptx" "file=3=$tmp/a.lto" complete get destroy)
session "Files are read, and what they say is linked." "1 1, 1 1, 0 0" "${file[@]}"
check "What they say is in the output." grep -q '{file}.*version 8.0file' "$tmp/warm"
touch -d 2001-01-01 "$tmp/a.ptx"
as_bare "Another time of a file is nothing." "0 0" "${file[@]}"
cp "$tmp/a.ptx" "$tmp/b.ptx"
as_bare "Another path is: it is the input's name." "1 1" "${file[@]/a.ptx/b.ptx}"
printf '.version 8.0\nfilE' >"$tmp/a.ptx"
touch -d 2001-01-01 "$tmp/a.ptx"
as_bare "A file that was edited is another input." "1 1" "${file[@]}"
ltoir filE >"$tmp/a.lto"
as_bare "So is one of LTO-IR." "1 1" "${file[@]}"
as_bare "It is cached." "0 0" "${file[@]}"
edited=("$arch" create "write=$tmp/c.ptx=.version 8.0 first" "file=2=$tmp/c.ptx" "write=$tmp/c.ptx=.version 8.0 other")
session "A file edited after it was added counts with its content at that time." "1 0, 1 0, 0 0" "${edited[@]}" complete get
check "The output has the earlier content." grep -q 'version 8.0 first' "$tmp/warm"
fresh_cache
check "A step of a file is made." test "$(works "${edited[@]}" destroy)" = "1 0"
as_bare "The deferred step uses the earlier content." "1 0" "${edited[@]}" complete get
session "So does a file that is removed." "1 0, 1 0, 0 0" "$arch" create "write=$tmp/c.ptx=.version 8.0 first" "chdir=$tmp" \
	file=2=c.ptx chdir=/ complete get
for path in "$tmp/missing" "$tmp" "$tmp/empty" ''; do
	: >"$tmp/empty"
	session "A file that is none (${path##*/}) is refused each time." "1 0, 1 0, 1 0" "$arch" create $'ptx=8.0\none' \
		"file=2=$path" logs complete get
done
mkfifo "$tmp/fifo"
for mode in bare cold warm; do
	timeout 300 sh -c "printf '.version 8.0\nfifo' >'$tmp/fifo' && : >'$tmp/written.$mode'" &
	if [ $mode = bare ]; then
		run bare timeout 300 "${host[@]}" "$arch" create "file=2=$tmp/fifo" complete get
	else
		run $mode preloaded timeout 300 "${host[@]}" "$arch" create "file=2=$tmp/fifo" complete get
	fi
	wait
done
check "What comes through a pipe is read by the library, once." alike cold warm
check "Each run has written the file." test -e "$tmp/written.bare" -a -e "$tmp/written.cold" -a -e "$tmp/written.warm"

# Thin archives: their members lie in files
member() { # PATH TEXT: a file that has not changed just now
	printf '.version 8.0\n%s' "$2" >"$1"
	sleep 0.3
}
mkdir "$tmp/here" "$tmp/there"
member "$tmp/here/a.o" here
printf '!<thin>\n%-48s%-10u`\na.o\n' // 4 >"$tmp/here/lib.a"
cp "$tmp/here/lib.a" "$tmp/there"
thin=("$arch" "chdir=$tmp/here" create $'thin=a.o\n' complete get destroy)
session "Members of a thin archive are read each time, because they may be gone when a deferred step is performed." "1 0, 1 0, 1 0" "${thin[@]}"
check "What they say is in the output." grep -q '8.0here' "$tmp/warm"
session "Of an archive that is a file as well." "1 0, 1 0, 1 0" "$arch" "chdir=$tmp/here" create file=6=lib.a complete get
thin=("$arch" option=-lto "chdir=$tmp/here" create $'thin=a.o\n' $'lto=two\n' complete get destroy)
session "And before a link, which hits." "1 1, 1 1, 1 0" "${thin[@]}"
member "$tmp/here/a.o" edited
as_bare "A member that was edited is another input, to all that follows." "1 1" "${thin[@]}"
as_bare "Its link is cached." "1 0" "${thin[@]}"
member "$tmp/there/a.o" there
as_bare "Elsewhere it is another file." "1 1" "${thin[@]/$tmp\/here/$tmp/there}"
rm "$tmp/there/a.o"
as_bare "A missing member is reported each time." "0 1" "${thin[@]/$tmp\/here/$tmp/there}"
as_bare "Results of the other directory still hit." "1 0" "${thin[@]}"
edited=("$arch" "chdir=$tmp/here" create $'thin=a.o\n' "write=a.o=.version 8.0 late" complete get)
member "$tmp/here/a.o" early
check "A member of an archive changes after its link." test "$(works "${edited[@]}")" = "1 0"
member "$tmp/here/a.o" early
check "With the earlier member again, its link is a hit." test "$(works "${edited[@]}")" = "1 0"
check "The member counts with the content that was read." grep -q '8.0early' "$tmp/run"
as_bare "What was read stays read where the directory is another before the next input." "2 0" "$arch" \
	"chdir=$tmp/here" create $'thin=a.o\n' chdir=/ $'ptx=8.0\nbehind another directory' complete get destroy

# ---- The directory, and the rest ----

printf x >"$tmp/file"
export NVRTCCACHE_DIR=$tmp/file/cache
as_bare "Where there can be no directory, the library works." "2 0" "${ptx[@]}"
fresh_cache
(
	trap '' XFSZ
	ulimit -f 0
	preloaded "${host[@]}" "${ptx[@]}" 2>&1 | cat
) 2>/dev/null | cat >"$tmp/cold"
echo 'exit 0' >>"$tmp/cold"
check "Where nothing can be written, too." alike cold
check "Then nothing is there." test "$(entries)" = 0
export NVRTCCACHE_READONLY=1
as_bare "Nothing is written where that is forbidden." "2 0" "${ptx[@]}"
unset NVRTCCACHE_READONLY
check "Nothing was." test "$(entries)" = 0
run cold preloaded "${host[@]}" "${ptx[@]:0:4}" kill
check "A process is killed in the middle." grep -q 'exit 137' "$tmp/cold"
as_bare "The next one is right." "2 0" "${ptx[@]}"
as_bare "And the next." "0 0" "${ptx[@]}"
find "$NVRTCCACHE_DIR" -type f -path '*/v1/??/*' -exec truncate -s -9 {} +
as_bare "Damaged results are compiled and stored again." "2 0" "${ptx[@]}"
as_bare "Then they hit." "0 0" "${ptx[@]}"
export NVRTCCACHE_DISABLE=1
session "NVRTCCACHE_DISABLE=1 does all the work each time." "2 0, 2 0, 2 0" "${ptx[@]}"
unset NVRTCCACHE_DISABLE
fresh_cache
check "A link on a time line is made." test "$(NVRTCCACHE_TRACE=$tmp/events works "${lto[@]}")" = "0 1"
check "The time line tells the compiler, and options that were given long before." \
	grep -q '"cat":"miss".*"compiler":"nvjitlink".*"options":\["-arch=sm_[0-9a]*","-lto"\].*"arch":"sm_' "$tmp/events"
timed() { NVRTCCACHE_TRACE=$tmp/timed works "$arch" option=-time create $'ptx=8.0\none' complete get destroy; }
check "A link that is bypassed works." test "$(timed)" = "1 0"
check "It is on the time line, with the reason." grep -q '"cat":"bypassed".*"reason":"logs"' "$tmp/timed"
export NVRTCCACHE_VERIFY=1
check "With a library whose results differ, the library does the work." \
	test "$(NVRTCCACHE_LOG=$tmp/log NVRTCCACHE_LOG_LEVEL=1 works whim=odd "${lto[@]}")" = "0 1"
check "The difference is found." test "$(stat_of verified) $(stat_of errors.mismatch)" = "1 1"
check "The log names the artifact and the compiler." grep -q 'mismatch: the cached LinkedCubin differs from that of nvJitLink' "$tmp/log"
unset NVRTCCACHE_VERIFY
plan
