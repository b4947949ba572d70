#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# timeout: 900
# weight: 90
# NVRTCCACHE_SLOPPINESS=debug_paths: paths that show in debug information and logs alone do not bind; all others do.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
export LD_LIBRARY_PATH=$RUN_PATH NVRTCCACHE_MEM_SIZE=0
cd "$tmp" || exit 1

place() { # NAME VALUE DATE: a checkout
	mkdir -p "$1/inc"
	printf '#define V %s\n' "$2" >"$1/inc/v.h"
	printf 'of this place\n' >"$1/k.cu"
	touch -d "$3" "$1/inc/v.h" "$1/k.cu"
}
place one 1 2020-01-01
place two 1 2021-02-03
place other 2 2020-01-01
sleep 0.1

source='#include "v.h"
extern "C" __global__ void k(float *p) { p[0] = V; }'
compile() { # NAME PLACE OPTION...: in that place, where "@" in an option is it
	local name=$1 place=$tmp/$2
	shift 2
	printf '%s\n' '=== One kernel.' 'source <<' "${source//@/$place}" END "name $place/k.cu" create "chdir $place" \
		"compile -arch=sm_90 ${*//@/$place}" all destroy >"$name.case"
	mkdir -p "$name.work"
	${through:+preloaded} "$BUILD/tests/player" "$NVRTC_LIB/$NVRTC_SONAME" "$tmp/$name.work" "$tmp/$name.case" /dev/null 1 >"$tmp/$name"
}
through=1
loosely() { NVRTCCACHE_SLOPPINESS=debug_paths "$@"; }
hits() { # N COMMAND...: so many more hits by then
	local wanted=$(($(stat_of hits_disk) + $1))
	shift
	"$@" && [ "$(stat_of hits_disk)" = "$wanted" ] || { "$COMMAND" explain --last && false; }
}
as_without() { through='' compile plain "$@" && compile cached "$@" && cmp plain cached; }
moves() { # OPTION...: hits in another place with the switch alone, and gives what the first place gave
	fresh_cache
	hits 0 compile strict one "$@" && hits 0 compile strict two "$@" && fresh_cache &&
		hits 0 loosely compile first one "$@" && hits 1 loosely compile second two "$@" && cmp first second &&
		hits 0 loosely as_without other "$@" && hits 0 as_without two "$@"
}
stays() { # OPTION...: does not hit in another place with the switch either, and gives what NVRTC gives
	fresh_cache
	hits 0 loosely compile first one "$@" && hits 0 loosely as_without two "$@"
}

for option in -lineinfo -G -dlto '-dlto -lineinfo'; do
	check "$option hits in another checkout, whose headers are of another time." moves -Iinc "$option"
	check "$option and -I with a whole path." moves -I@/inc "$option"
done
source=${source/"p[0] = V;"/"int unused; p[0] = V;"}
check "A name in a warning does not bind." moves -I@/inc
source='#include "v.h"
#include "missing.h"'
check "A name in an error does not bind." moves -I@/inc

for text in 'p[0] = sizeof(__FILE__);' '((const char **)p)[0] = __FILE__;' '((const char **)p)[0] = "@/k.cu";'; do
	source="#include \"v.h\"
	extern \"C\" __global__ void k(float *p) { $text }"
	for option in -lineinfo -G -dlto ''; do
		check "What a program computes from a path binds, $option $text" stays -I@/inc "$option"
	done
done
in_memory() { # PLACE OPTION...: a program without a directory, and a header in memory that names itself
	printf '%s\n' '=== One kernel.' 'source <<' '#include "m.h"' "$source" END 'header m.h <<' '__device__ const char *m = __FILE__;' END \
		'name k.cu' create "chdir $tmp/$1" "compile -arch=sm_90 ${*:2}" all destroy >memory.case
	mkdir -p memory.work
	${through:+preloaded} "$BUILD/tests/player" "$NVRTC_LIB/$NVRTC_SONAME" "$tmp/memory.work" "$tmp/memory.case" /dev/null 1 >"$tmp/memory"
}
moves_in_memory() { # HITS OPTION...
	fresh_cache
	hits 0 loosely in_memory one "${@:2}" && hits "$1" loosely in_memory two "${@:2}" && mv memory warm && through='' in_memory two "${@:2}"
}
as_plain() { moves_in_memory "$@" && cmp memory warm; }
printf 'static __device__ const char *n = __FILE__;\n' >one/n.h
cp -p one/n.h two
touch -d 2020-01-01 one/n.h two/n.h
source='extern "C" __global__ void k(const char **p) { p[0] = m; }'
check "__FILE__ of a header in memory does not bind to the working directory." as_plain 1
check "Nor does it with -dlto, whose bytes have that directory." moves_in_memory 1 -dlto
source='#include "n.h"
extern "C" __global__ void k(const char **p) { p[0] = m; p[1] = n; }'
check "__FILE__ of a header in the working directory binds to it." as_plain 0
check "So it does with -dlto." moves_in_memory 0 -dlto

# NVRTC 13.3 and later read relative paths by absolute names; cd sets $PWD.
printf '#include "own.h"\n' >own.cu
printf '// __FILE__ one\n' >one/own.h
printf '// __FILE__ two\n' >two/own.h
touch -d 2020-01-01 one/own.h two/own.h
sleep 0.1
# The fake one opens its builtins by soname, and must not get those of a real 13.5.
own_header() { (cd "$1" && LD_LIBRARY_PATH=$FAKE/135 preloaded "$BUILD/tests/life" "$FAKE/135/libnvrtc.so.13" @../own.cu 0 >"$tmp/lived"); }
binds_with_pwd() { fresh_cache && hits 0 own_header one && hits 0 own_header two && hits 1 own_header one && hits 1 own_header two; }
check "So it does where the compiler reads it by an absolute name and \$PWD names the directory." binds_with_pwd

source='#include "v.h"
extern "C" __global__ void k(float *p) { p[0] = V; }'
if [ -e "$CUDA_INCLUDE/cccl/cuda/std/span" ]; then
	ln -s "$CUDA_INCLUDE" one/cuda && ln -s "$CUDA_INCLUDE" two/cuda
	plain_source=$source
	source='#include <cuda/std/span>
	extern "C" __global__ void k(int *p, int n) { cuda::std::span<int> s(p, n); s[n] = 1; }'
	headers=(-I@/cuda/cccl -I@/cuda)
	hits_with_headers() { fresh_cache && hits 0 loosely compile first one "${headers[@]}" -lineinfo && hits 1 loosely compile second two "${headers[@]}" -lineinfo; }
	check "Headers of CCCL that name __FILE__ do not bind while it does not show." hits_with_headers
	for option in -lineinfo -dlto; do
		check "They bind where it shows or could, $option." stays "${headers[@]}" -DCCCL_ENABLE_ASSERTIONS "$option"
	done
	source=$plain_source
else
	skip "Headers of CCCL that name __FILE__ do not bind while it does not show." "no such headers in $CUDA_INCLUDE"
fi
hides_header() {
	fresh_cache
	hits 0 loosely compile first one -Iinc -I@/front -lineinfo && mkdir -p two/front && echo '#define V 3' >two/front/v.h && sleep 0.1 &&
		hits 1 loosely compile second two -Iinc -I@/front -lineinfo && hits 0 loosely as_without two -I@/front -Iinc -lineinfo
}
check "A header that comes first in the other place is seen." hides_header

goes_first() { # SOURCE OPTION...: what is bound to a place below $tmp is younger, and is evicted before the other
	fresh_cache
	compile plain one && source=$1 compile bound one "${@:2}" && [ "$(entries)" = 2 ] &&
		"$COMMAND" prune --max-size "$(($(du -cb "$NVRTCCACHE_DIR"/v1/??/* | tail -1 | cut -f 1) - 1))" && [ "$(entries)" = 1 ] &&
		hits 1 compile again one
}
source='extern "C" __global__ void k(float *p) { p[0] = 1; }'
check "What names __FILE__ in a temporary directory is evicted first." goes_first "${source/1;/sizeof(__FILE__);}"
check "So is what an option binds to one." goes_first "$source" -lineinfo -DN=1
plan
