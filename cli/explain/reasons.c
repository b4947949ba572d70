/* SPDX-License-Identifier: MIT */
#include "cli/explain/explanation.h"

#include <string.h>

static const char *const words[COUNTER_COUNT] = {
    [COUNTER_BYPASSED_unwatchable] =
        "This library's calls of the outside world cannot be watched, so nobody knows what its "
        "results hang on. 'nvrtccache doctor -- PROGRAM' says what is in the way.",
    [COUNTER_BYPASSED_not_watched] =
        "What the compiler read was not seen, or another library took the watch's place: other "
        "preloaded libraries and tracers do that. Try without them.",
    [COUNTER_BYPASSED_files] =
        "The compiler opened something that cannot be compared later: a pipe, a device, or a file that "
        "could not be read. Give it a plain file.",
    [COUNTER_BYPASSED_side_effects] = "The compile wrote or removed files, ran a program or used the network (--time, "
                                      "--create-pch and the like do), which a hit would not. Leave that option out.",
    [COUNTER_BYPASSED_too_new] =
        "A header changed during the compile or a moment before it, or has a time that is yet to come: an edit as "
        "quick could not be told from it. The next compile of the same is kept, once that time is past.",
    [COUNTER_BYPASSED_time_macros] =
        "The source or a header names __DATE__, __TIME__ or __TIMESTAMP__, so the result depends on "
        "when it is made. NVRTCCACHE_SLOPPINESS=time_macros keeps such results all the same.",
    [COUNTER_BYPASSED_environment] =
        "The compiler asked for a variable that is no part of the key, or directory, environment "
        "or locale changed while it worked. Unset that variable, or set it before the program starts.",
    [COUNTER_BYPASSED_builtins] =
        "The library that the compiler loads by itself (libnvrtc-builtins) is not where the loader "
        "would look for it. Put both of one release side by side, or set LD_LIBRARY_PATH.",
    [COUNTER_BYPASSED_return_code] =
        "The compiler ended in a way that another compile may not: out of memory, an internal "
        "error, options that it refuses, or a failure that its log does not explain.",
    [COUNTER_BYPASSED_arguments] =
        "The arguments are such that the compiler itself refuses them, or reads what nobody wrote. "
        "Nothing is cached of such calls.",
    [COUNTER_BYPASSED_cancelled] = "The program's own callback stopped the compile.",
    [COUNTER_BYPASSED_history] =
        "Something happened to this handle earlier that no key can hold: a compile that was not "
        "cached, or too many of them. Make a new handle for each compile.",
    [COUNTER_BYPASSED_sticky_options] =
        "An option of an earlier compile of this process goes on working in later ones. Give "
        "that option in a process of its own, or in all compiles alike.",
    [COUNTER_BYPASSED_uncleared_options] =
        "An earlier compile of this process had an option of which it is not known that it "
        "ends with its compile. Give it in a process of its own, or in all compiles alike.",
    [COUNTER_BYPASSED_slots] = "The process has loaded more copies of compilers than the cache has places for.",
    [COUNTER_BYPASSED_threads] =
        "Threads of the compiler touched files that could not be told to be of this compile. The "
        "next compile of the same may be kept.",
    [COUNTER_BYPASSED_exports] =
        "Something in the process is linked with functions of the compiler that reach it past the "
        "cache. 'nvrtccache doctor -- PROGRAM' names it.",
    [COUNTER_BYPASSED_libraries] = "Constants were folded with a mathematics library that cannot be told from others.",
    [COUNTER_BYPASSED_too_large] =
        "The result is larger than an eighth of the size cap, or than the process may write. Raise "
        "NVRTCCACHE_MAX_SIZE.",
    [COUNTER_BYPASSED_extensions] =
        "The program uses an extension of NVRTC's interface that no header declares, so that nobody "
        "knows what it does.",
    [COUNTER_BYPASSED_precompiled_header] =
        "The precompiled header could not be told from others, or the program has set the "
        "size of their heap. Without --pch it is cached.",
    [COUNTER_BYPASSED_bundled_headers] =
        "--use-bundled-headers unpacked NVRTC's headers into its directory, or may not write there. "
        "Once they are unpacked, compiles are cached.",
    [COUNTER_BYPASSED_logs] =
        "The log that was asked for tells run times, or lacks what the driver's own cache leaves out. "
        "Leave out -time and -verbose.",
    [COUNTER_ERRORS_directory] =
        "The cache directory cannot be made, opened or searched. 'nvrtccache doctor' says why.",
    [COUNTER_ERRORS_untrusted] =
        "Others can write to the cache directory or to a file in it, so it is not used: chmod go-w, or "
        "NVRTCCACHE_SHARED=1 where a group shares it.",
    [COUNTER_ERRORS_damaged] = "A file of the cache is damaged. It goes by itself at the next look.",
    [COUNTER_ERRORS_read] = "A file of the cache could not be read.",
    [COUNTER_ERRORS_write] = "The result could not be written. 'nvrtccache doctor' looks at the directory.",
    [COUNTER_ERRORS_no_space] =
        "There was no space left for the result, or the quota is used up. 'nvrtccache prune' makes room "
        "where the cache itself is what is large.",
    [COUNTER_ERRORS_memory] = "The process had no memory left for it.",
    [COUNTER_ERRORS_mismatch] = "The compiler gave something else than the cache has: please report that.",
    [COUNTER_ERRORS_internal] = "Something that should not be: please report it, with the log at level debug.",
};

const char *reasons_words(enum counter reason)
{
	return words[reason];
}

enum counter reasons_find(const char *name, size_t size)
{
	for (int i = 0; i < COUNTER_COUNT; i++) {
		const char *known = counter_name((enum counter)i);

		if (words[i] && strlen(known) == size && memcmp(known, name, size) == 0) {
			return (enum counter)i;
		}
	}
	return COUNTER_NONE;
}
