#!/bin/bash
# needs: nvrtc
# Every import of every NVRTC, nvJitLink and libNVVM at hand: one that is not known to be harmless, and that we have no
# watcher for, would make its release go uncached. `make matrix` asks the same of every release, for x86-64 and aarch64.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1

scripts/census >"$tmp/census" 2>&1
while IFS= read -r line; do
	case $line in
	*'NOT WATCHABLE'*) echo "$line" >"$tmp/line" && not_ok "${line%%:*} could be watched." "$tmp/line" ;;
	*' imports, '*) ok "${line%%:*} could be watched." ;;
	*) echo "$line" >"$tmp/line" && not_ok "Every compiler at hand can be read." "$tmp/line" ;;
	esac
done <"$tmp/census"

# library NAME : of C on stdin
library() { cc -shared -fPIC -w -x c -o "$tmp/$1.so" - >"$tmp/cc" 2>&1; }

# refused NAME WHY TEST
refused() {
	local code=0
	scripts/census "$tmp/$1.so" >"$tmp/census" 2>&1 || code=$?
	if [ "$code" = 1 ] && grep -q "NOT WATCHABLE: $2\$" "$tmp/census"; then
		ok "$3"
	else
		not_ok "$3" "$tmp/census"
	fi
}

# The table as it is, and libraries that import what is in it.
if library forbidden <<<'int glob(); int found(void) { return glob("*", 0, 0, 0); }'; then
	refused forbidden glob "A library that could not be watched is reported with its imports."
	unwatched='1 libraries import 0 of [0-9]* watched functions; not:.* getenv '
	if scripts/census --unused "$tmp/forbidden.so" >"$tmp/census" 2>&1 && grep -q "$unwatched" "$tmp/census"; then
		ok "Watched functions that no library imports are listed."
	else
		not_ok "Watched functions that no library imports are listed." "$tmp/census"
	fi
	library unnamed <<<'int nvrtcGetPTXSize(void) { return 0; } int nvrtcNewest(void) { return nvrtcGetPTXSize(); }'
	scripts/census "$tmp/unnamed.so" >"$tmp/census" 2>&1
	check "A function that no table names is reported." grep -q 'in no table: nvrtcNewest$' "$tmp/census"
	# Options: one of the table, one that goes on behind it, one that ends the process, and a new one.
	library libnvJitLink <<-'END'
		const char *known = "-lto", *on = "-lto_90", *deadly = "-deadly", *newest = "-newest", *refused = "-refused";
		int nvJitLinkCreate(void **handle, unsigned count, const char **options)
		{
			if (!__builtin_strcmp(options[1], deadly)) __builtin_trap();
			return __builtin_strcmp(options[1], newest) && __builtin_strncmp(options[1], known, 4);
		}
		int nvJitLinkDestroy(void **handle) { return 0; }
	END
	options() { scripts/sticky --unlisted --library "$1" >"$tmp/options" 2>&1; }
	check "Options that a linker accepts and no table has are listed." eval \
		'options "$tmp/libnvJitLink.so" && grep -q ": 1 options of the table, and -newest$" "$tmp/options"'
	library libnvJitLink <<<'int nvJitLinkCreate(void) { return 1; } int nvJitLinkDestroy(void) { return 0; }'
	check "A search in which a linker accepts nothing fails." eval '! options "$tmp/libnvJitLink.so"'
	eval "$(scripts/nvrtc-env)"
	for path in ${NVJITLINK_LIB:+"$NVJITLINK_LIB"} ${NVVM_LIB:+"$NVVM_LIB"}; do
		check "${path##*/} accepts options of our table." eval 'options "$path"'
	done
	library data <<<'char *getenv(const char *); char *(*table[])(const char *) = {getenv};'
	refused data 'getenv in data' "A watched function whose address is in data is reported."
else
	skip "A library that could not be watched is reported with its imports." "no compiler for it: $(tail -1 "$tmp/cc")"
fi
if [ "$(uname -m)" = x86_64 ] && library versions <<-'END'; then
	__asm__(".symver first, realpath@GLIBC_2.2.5\n.symver second, realpath@GLIBC_2.3");
	char *first(), *second();
	int both(void) { return first("/", 0) == second("/", 0); }
END
	refused versions 'realpath in several versions' "A watched function in two versions, which may be two functions, is reported."
else
	skip "A watched function in two versions, which may be two functions, is reported." "of x86-64, with a compiler"
fi

# Releases, as they were noted: nothing is fetched, by a pip that knows no package. The real one takes a second for each.
mkdir -p "$tmp/python/pip"
touch "$tmp/python/pip/__init__.py" "$tmp/python/pip/__main__.py"
releases() {
	CENSUS_HOME=$tmp/home PYTHONPATH=$tmp/python scripts/census --get all >"$tmp/census" 2>&1
}
notes() {
	mkdir -p "$tmp/home"
	printf '%s\n' 'machine AArch64' 'needed libc.so.6' 'export nvvmCreateProgram' "import $2" 'import __gmon_start__ -' 'weak __gmon_start__' >"$tmp/home/$1.notes"
}
notes aarch64-nvidia-nvvm-13.98.1 'getenv GLIBC_2.17'
if releases && grep -q '^13\.98 .* 2, 1$' "$tmp/census" && grep -q '^1 libraries, 0 in the way$' "$tmp/census"; then
	ok "A release that can be watched is a row."
else
	not_ok "A release that can be watched is a row." "$tmp/census"
fi
notes aarch64-nvidia-nvjitlink-14.0.1 'glob GLIBC_2.17'
if ! releases && grep -q 'nvJitLink 14\.0 for aarch64: NOT WATCHABLE: glob$' "$tmp/census"; then
	ok "A release with an unknown import fails the census."
else
	not_ok "A release with an unknown import fails the census." "$tmp/census"
fi
notes aarch64-nvidia-nvjitlink-14.0.1 'getenv GLIBC_2.99'
if ! releases && grep -q '^getenv of aarch64 is asked for in several versions: ' "$tmp/census"; then
	ok "Two releases that ask for a watched function in two versions fail the census."
else
	not_ok "Two releases that ask for a watched function in two versions fail the census." "$tmp/census"
fi
plan
