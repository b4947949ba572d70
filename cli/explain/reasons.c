/* SPDX-License-Identifier: MIT */
/*
 * One text for each reason that a record can have, indexed by counter. Counters without a text are not reasons. The
 * same counter is used for results that were not cached and for calls that were bypassed, so each reason has only one
 * text.
 */
#include "cli/explain/explanation.h"

static const char *const words[COUNTER_COUNT] = {
    [COUNTER_BYPASSED_unwatchable] =
        "The cache cannot observe what this library reads, so its results could be wrong later. "
        "'nvrtccache doctor -- PROGRAM' names what is in the way.",
    [COUNTER_BYPASSED_not_watched] =
        "What the compiler read was not observed; other preloaded libraries and tracers prevent that. "
        "Try without them.",
    [COUNTER_BYPASSED_files] =
        "The compiler opened something that cannot be compared later: a pipe, a device, or a file that "
        "could not be read. Use a plain file.",
    [COUNTER_BYPASSED_side_effects] =
        "The compilation wrote or removed files, ran a program or used the network (--time, --create-pch "
        "and the like do), which a hit would not do. Leave that option out.",
    [COUNTER_BYPASSED_too_new] =
        "A header changed during the compilation or just before it: another edit as quick would not be "
        "noticed. The next compilation is cached.",
    [COUNTER_BYPASSED_time_macros] =
        "The source or a header uses __DATE__, __TIME__ or __TIMESTAMP__, so the result depends on the "
        "time of compilation. NVRTCCACHE_SLOPPINESS=time_macros caches such results anyway.",
    [COUNTER_BYPASSED_environment] =
        "The compiler read a variable that is not part of the key, or the directory, environment or "
        "locale changed meanwhile. Unset that variable, or set it before the program starts.",
    [COUNTER_BYPASSED_builtins] =
        "No loaded library has the SONAME of the one that the compiler loads itself (libnvrtc-builtins), so "
        "it is not known which one was used. Install the file that belongs to the release.",
    [COUNTER_BYPASSED_return_code] =
        "The compiler failed in a way that may not repeat: out of memory, an internal error, options "
        "that it rejects, or a failure that its log does not explain.",
    [COUNTER_BYPASSED_arguments] =
        "The arguments are invalid, so the compiler rejects them or reads undefined memory. Such calls "
        "are not cached.",
    [COUNTER_BYPASSED_cancelled] = "The program's own callback stopped the compilation.",
    [COUNTER_BYPASSED_history] =
        "This handle has a history that no key can hold: an earlier compilation that was not cached, or "
        "too many of them. Create a new handle for each compilation.",
    [COUNTER_BYPASSED_sticky_options] =
        "An option of an earlier compilation of this process affects later ones. Use that option in a "
        "process of its own, or in all compilations.",
    [COUNTER_BYPASSED_uncleared_options] =
        "An earlier compilation of this process had an option that may affect later ones. Use it in a "
        "process of its own, or in all compilations.",
    [COUNTER_BYPASSED_slots] = "The process has loaded more copies of compilers than the cache supports.",
    [COUNTER_BYPASSED_threads] =
        "Threads of the compiler used files that could not be attributed to this compilation. The next "
        "compilation may be cached.",
    [COUNTER_BYPASSED_exports] =
        "A module of the process calls the compiler in a way that bypasses the cache. 'nvrtccache doctor "
        "-- PROGRAM' names it.",
    [COUNTER_BYPASSED_private_functions] =
        "The process looked up private functions of the compiler (__nvvmHandle, __nvJitLinkAPI), which work on "
        "programs without the cache's knowledge. From then on that library is bypassed.",
    [COUNTER_BYPASSED_libraries] = "Constants were folded with an unknown mathematics library.",
    [COUNTER_BYPASSED_too_large] =
        "The result is larger than an eighth of the size limit, or than the process may write. Raise "
        "NVRTCCACHE_MAX_SIZE.",
    [COUNTER_BYPASSED_extensions] =
        "The program uses a private extension of NVRTC's interface, whose effects are not known.",
    [COUNTER_BYPASSED_precompiled_header] =
        "The precompiled header is a file of the program, could not be made, or was made of other headers "
        "in memory, options or directories. Without --pch the result is cached.",
    [COUNTER_BYPASSED_bundled_headers] =
        "--use-bundled-headers unpacked NVRTC's headers into its directory, may not write there, or uses a temporary "
        "directory of this process, which no other process can use. With a lasting directory, compilations are cached "
        "once the headers are unpacked.",
    [COUNTER_BYPASSED_logs] =
        "The requested log contains run times, or the driver's own cache leaves parts of it out. Leave "
        "out -time and -verbose.",
    [COUNTER_ERRORS_directory] =
        "The cache directory cannot be created, opened or searched. 'nvrtccache doctor' says why.",
    [COUNTER_ERRORS_untrusted] =
        "Others can write to the cache directory or to a file in it, so it is not used: chmod go-w, or "
        "NVRTCCACHE_SHARED=1 if a group shares it.",
    [COUNTER_ERRORS_damaged] = "A file of the cache is damaged. The next look-up removes it.",
    [COUNTER_ERRORS_read] = "A file of the cache could not be read.",
    [COUNTER_ERRORS_write] = "The result could not be written. 'nvrtccache doctor' checks the directory.",
    [COUNTER_ERRORS_no_space] =
        "The file system or the quota is full. 'nvrtccache prune' frees space if the cache itself is "
        "large.",
    [COUNTER_ERRORS_memory] = "The process ran out of memory.",
    [COUNTER_ERRORS_mismatch] = "The compiler's result differs from the cached one: please report that.",
    [COUNTER_ERRORS_internal] = "An internal error: please report it, with the log at NVRTCCACHE_LOG_LEVEL=debug.",
};

const char *reasons_words(enum counter reason)
{
	return words[reason];
}
