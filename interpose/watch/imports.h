/* SPDX-License-Identifier: MIT */
/*
 * imports: the table of the libc functions that a compiler library may import (docs/DESIGN.md)
 *
 * Purpose: every function that a compiler imports is listed here once. watch_patch() looks up a library's imports in
 * this table, and so does scripts/census for libraries that it does not run. A library that imports an unlisted
 * function is bypassed: none of its results is cached.
 *
 *   WATCHED(name)     its slot is redirected to a replacement (imports.c). Listed are functions that a release of
 *                     NVRTC, nvJitLink or libNVVM imports (`scripts/census --unused` prints the others), functions of
 *                     LLVM and libstdc++, of which these libraries contain copies, and the names that compiler flags or
 *                     a newer glibc use instead (__printf_chk, __open_2, open64, stat)
 *   TAINTED(why, name) the same; after any call of it, a result is not cached
 *   ARITHMETIC(class, name) an inexact function of libm (arithmetic.h). D: double(double), F: float(float), DD and FF:
 *                     two arguments
 *   ODD(name)         one of any other signature, which has no replacement
 *   CLEARED(name)     operates on memory, on threads, or on descriptors and streams that a watched call opened
 *   PERTURBED(name)   answers about the process or the moment, and no answer changes an output: scripts/perturb makes
 *                     it give other answers and compares the outputs (tests/perturb/evidence.txt)
 *
 * dlopen, dlsym and dladdr are CLEARED deliberately, because dlopen takes RUNPATH from its return address. setenv
 * changes the answers to later calls. Message catalogues and converters are files that libc opens itself, where no
 * import slot shows it.
 *
 * The names are in strcmp order, because the look-up is a binary search.
 *
 * How to extend: add the name in order; for WATCHED add `watch_<name>` beside similar functions, for PERTURBED a CALL
 * in tests/perturb/shim.c. Threads, fork, signals: everything is constant except `imports_real`, which is written
 * before the first slot is redirected.
 */
#ifndef INTERPOSE_WATCH_IMPORTS_H
#define INTERPOSE_WATCH_IMPORTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* It would indent each line deeper than the one before. */
/* clang-format off */
#define IMPORTS(WATCHED, TAINTED, ARITHMETIC, ODD, CLEARED, PERTURBED) \
	CLEARED(_IO_getc) WATCHED(_IO_putc) CLEARED(__ctype_b_loc) PERTURBED(__ctype_get_mb_cur_max) \
	CLEARED(__ctype_tolower_loc) CLEARED(__cxa_atexit) CLEARED(__cxa_finalize) CLEARED(__duplocale) \
	CLEARED(__errno_location) CLEARED(__fgets_chk) WATCHED(__fprintf_chk) CLEARED(__fread_chk) \
	CLEARED(__freelocale) CLEARED(__fxstat) CLEARED(__fxstat64) WATCHED(__getauxval) WATCHED(__getcwd_chk) \
	CLEARED(__isnan) CLEARED(__isoc23_fscanf) CLEARED(__isoc23_sscanf) CLEARED(__isoc23_strtol) \
	CLEARED(__isoc23_strtoll) CLEARED(__isoc23_strtoul) CLEARED(__isoc23_strtoull) CLEARED(__isoc99_fscanf) \
	CLEARED(__isoc99_sscanf) CLEARED(__iswctype_l) CLEARED(__longjmp_chk) WATCHED(__lxstat) WATCHED(__lxstat64) \
	CLEARED(__memcpy_chk) CLEARED(__memmove_chk) CLEARED(__memset_chk) WATCHED(__newlocale) \
	PERTURBED(__nl_langinfo_l) WATCHED(__open64_2) WATCHED(__open_2) WATCHED(__printf_chk) \
	CLEARED(__pthread_key_create) CLEARED(__read_chk) WATCHED(__readlink_chk) WATCHED(__realpath_chk) \
	CLEARED(__sched_cpualloc) CLEARED(__sched_cpucount) CLEARED(__sched_cpufree) CLEARED(__sigsetjmp) \
	ODD(__sincos) ODD(__sincosf) CLEARED(__snprintf_chk) CLEARED(__sprintf_chk) CLEARED(__stack_chk_fail) \
	CLEARED(__stack_chk_guard) CLEARED(__stpcpy_chk) CLEARED(__strcat_chk) CLEARED(__strcoll_l) \
	CLEARED(__strcpy_chk) CLEARED(__strdup) CLEARED(__strftime_l) CLEARED(__strncat_chk) CLEARED(__strncpy_chk) \
	CLEARED(__strtod_l) CLEARED(__strtof_l) CLEARED(__strtok_r) CLEARED(__strxfrm_l) CLEARED(__tls_get_addr) \
	CLEARED(__towlower_l) CLEARED(__towupper_l) CLEARED(__uselocale) WATCHED(__vfprintf_chk) \
	WATCHED(__vprintf_chk) CLEARED(__vsnprintf_chk) CLEARED(__vsprintf_chk) CLEARED(__wcscoll_l) \
	CLEARED(__wcsftime_l) CLEARED(__wcsxfrm_l) CLEARED(__wctype_l) CLEARED(__xpg_strerror_r) WATCHED(__xstat) \
	WATCHED(__xstat64) CLEARED(_exit) CLEARED(_setjmp) CLEARED(abort) TAINTED(UNKNOWN_CALL, accept) \
	WATCHED(access) ARITHMETIC(D, acos) ARITHMETIC(F, acosf) ARITHMETIC(D, acosh) ARITHMETIC(F, acoshf) ODD(acosl) \
	CLEARED(alarm) CLEARED(aligned_alloc) ARITHMETIC(D, asin) ARITHMETIC(F, asinf) ARITHMETIC(D, asinh) \
	ARITHMETIC(F, asinhf) ODD(asinl) ARITHMETIC(D, atan) ARITHMETIC(DD, atan2) ARITHMETIC(FF, atan2f) ODD(atan2l) \
	ARITHMETIC(F, atanf) ARITHMETIC(D, atanh) ARITHMETIC(F, atanhf) ODD(atanl) TAINTED(UNKNOWN_CALL, bind) \
	CLEARED(bind_textdomain_codeset) TAINTED(UNKNOWN_CALL, bindtextdomain) CLEARED(bsearch) CLEARED(btowc) \
	CLEARED(calloc) ARITHMETIC(D, cbrt) ARITHMETIC(F, cbrtf) CLEARED(ceil) ODD(cexp) TAINTED(CHANGED_PLACE, chdir) \
	TAINTED(WRITE, chmod) PERTURBED(clock) PERTURBED(clock_gettime) ODD(clog) CLEARED(close) CLEARED(closedir) \
	TAINTED(UNKNOWN_CALL, connect) ARITHMETIC(D, cos) ARITHMETIC(F, cosf) ARITHMETIC(D, cosh) ARITHMETIC(F, coshf) \
	ODD(coshl) ODD(cosl) PERTURBED(ctime) TAINTED(UNKNOWN_CALL, dcgettext) TAINTED(UNKNOWN_CALL, dgettext) \
	CLEARED(difftime) CLEARED(dl_iterate_phdr) CLEARED(dladdr) CLEARED(dladdr1) CLEARED(dlclose) CLEARED(dlerror) \
	CLEARED(dlopen) CLEARED(dlsym) PERTURBED(dup) CLEARED(dup2) ARITHMETIC(D, erf) ARITHMETIC(D, erfc) \
	ARITHMETIC(F, erfcf) ARITHMETIC(F, erff) TAINTED(PROCESS, execv) TAINTED(PROCESS, execve) \
	TAINTED(PROCESS, execvp) CLEARED(exit) ARITHMETIC(D, exp) ARITHMETIC(D, exp10) ARITHMETIC(F, exp10f) \
	ARITHMETIC(D, exp2) ARITHMETIC(F, exp2f) ODD(exp2l) ARITHMETIC(F, expf) ODD(expl) ARITHMETIC(D, expm1) \
	ARITHMETIC(F, expm1f) CLEARED(fabs) TAINTED(WRITE, fchmodat) CLEARED(fclose) PERTURBED(fcntl) CLEARED(fdopen) \
	PERTURBED(feclearexcept) CLEARED(fegetenv) CLEARED(feof) CLEARED(ferror) CLEARED(fesetenv) \
	PERTURBED(fetestexcept) CLEARED(fflush) CLEARED(fgetc) CLEARED(fgets) CLEARED(fileno) PERTURBED(flock) \
	CLEARED(floor) CLEARED(floorl) CLEARED(fmod) WATCHED(fopen) WATCHED(fopen64) TAINTED(PROCESS, fork) \
	WATCHED(fprintf) WATCHED(fputc) WATCHED(fputs) CLEARED(fread) CLEARED(free) CLEARED(freeaddrinfo) \
	CLEARED(freelocale) CLEARED(frexpl) CLEARED(fscanf) CLEARED(fseek) CLEARED(fseeko64) CLEARED(fstat) \
	CLEARED(fstat64) PERTURBED(fstatfs) CLEARED(ftell) CLEARED(ftello64) CLEARED(ftruncate) WATCHED(fwrite) \
	CLEARED(gai_strerror) WATCHED(get_nprocs) TAINTED(UNKNOWN_CALL, getaddrinfo) WATCHED(getauxval) CLEARED(getc) \
	WATCHED(getcwd) PERTURBED(getegid) TAINTED(UNKNOWN_CALL, getentropy) WATCHED(getenv) PERTURBED(geteuid) \
	PERTURBED(getgid) TAINTED(UNKNOWN_CALL, gethostbyname) TAINTED(UNKNOWN_CALL, gethostname) WATCHED(getnameinfo) \
	PERTURBED(getpagesize) CLEARED(getpeername) PERTURBED(getpid) TAINTED(UNKNOWN_CALL, getpwnam) \
	TAINTED(UNKNOWN_CALL, getpwnam_r) TAINTED(UNKNOWN_CALL, getpwuid) TAINTED(UNKNOWN_CALL, getpwuid_r) \
	PERTURBED(getrlimit) PERTURBED(getrusage) CLEARED(getsockname) CLEARED(getsockopt) \
	TAINTED(UNKNOWN_CALL, gettext) PERTURBED(gettimeofday) PERTURBED(getuid) CLEARED(getwc) PERTURBED(gmtime) \
	PERTURBED(gmtime_r) ARITHMETIC(DD, hypot) ARITHMETIC(FF, hypotf) CLEARED(iconv) CLEARED(iconv_close) \
	TAINTED(UNKNOWN_CALL, iconv_open) PERTURBED(ioctl) CLEARED(isalnum) CLEARED(isalpha) PERTURBED(isatty) \
	CLEARED(iscntrl) CLEARED(islower) CLEARED(isprint) CLEARED(ispunct) CLEARED(isspace) CLEARED(isupper) \
	CLEARED(isxdigit) ARITHMETIC(D, j0) ARITHMETIC(F, j0f) ARITHMETIC(D, j1) ARITHMETIC(F, j1f) ODD(jn) ODD(jnf) \
	CLEARED(kill) ODD(lgamma) ODD(lgamma_r) ODD(lgammaf) ODD(lgammaf_r) TAINTED(WRITE, link) \
	TAINTED(UNKNOWN_CALL, listen) PERTURBED(localeconv) PERTURBED(localtime_r) ARITHMETIC(D, log) \
	ARITHMETIC(D, log10) ARITHMETIC(F, log10f) ODD(log10l) ARITHMETIC(D, log1p) ARITHMETIC(F, log1pf) \
	ARITHMETIC(D, log2) ARITHMETIC(F, log2f) ODD(log2l) CLEARED(logb) ARITHMETIC(F, logf) ODD(logl) \
	CLEARED(longjmp) CLEARED(lseek) CLEARED(lseek64) WATCHED(lstat) WATCHED(lstat64) CLEARED(madvise) \
	PERTURBED(mallinfo) CLEARED(malloc) CLEARED(mbrtowc) CLEARED(mbsnrtowcs) CLEARED(mbsrtowcs) CLEARED(memchr) \
	CLEARED(memcmp) CLEARED(memcpy) CLEARED(memmem) CLEARED(memmove) CLEARED(memrchr) CLEARED(memset) \
	WATCHED(mkdir) WATCHED(mkstemp) WATCHED(mkstemp64) PERTURBED(mlock) CLEARED(mmap) CLEARED(modf) \
	PERTURBED(mprotect) CLEARED(munmap) CLEARED(nanosleep) WATCHED(newlocale) CLEARED(nextafter) WATCHED(open) \
	WATCHED(open64) WATCHED(openat) WATCHED(opendir) WATCHED(perror) PERTURBED(pipe) PERTURBED(poll) \
	PERTURBED(posix_madvise) CLEARED(posix_memalign) TAINTED(PROCESS, posix_spawn) ARITHMETIC(DD, pow) \
	ARITHMETIC(FF, powf) ODD(powl) WATCHED(printf) CLEARED(pthread_attr_destroy) CLEARED(pthread_attr_init) \
	CLEARED(pthread_attr_setdetachstate) CLEARED(pthread_attr_setinheritsched) CLEARED(pthread_attr_setschedparam) \
	PERTURBED(pthread_attr_setschedpolicy) PERTURBED(pthread_attr_setstacksize) CLEARED(pthread_cond_broadcast) \
	CLEARED(pthread_cond_destroy) CLEARED(pthread_cond_init) CLEARED(pthread_cond_signal) \
	CLEARED(pthread_cond_timedwait) CLEARED(pthread_cond_wait) PERTURBED(pthread_create) CLEARED(pthread_detach) \
	CLEARED(pthread_exit) CLEARED(pthread_getspecific) CLEARED(pthread_join) CLEARED(pthread_key_create) \
	CLEARED(pthread_key_delete) CLEARED(pthread_kill) CLEARED(pthread_mutex_destroy) CLEARED(pthread_mutex_init) \
	CLEARED(pthread_mutex_lock) PERTURBED(pthread_mutex_trylock) CLEARED(pthread_mutex_unlock) \
	CLEARED(pthread_mutexattr_destroy) CLEARED(pthread_mutexattr_init) CLEARED(pthread_mutexattr_settype) \
	CLEARED(pthread_once) CLEARED(pthread_rwlock_destroy) CLEARED(pthread_rwlock_init) \
	CLEARED(pthread_rwlock_rdlock) CLEARED(pthread_rwlock_unlock) CLEARED(pthread_rwlock_wrlock) \
	CLEARED(pthread_self) CLEARED(pthread_setname_np) CLEARED(pthread_setspecific) CLEARED(pthread_sigmask) \
	WATCHED(putc) WATCHED(putchar) WATCHED(puts) WATCHED(putwc) CLEARED(qsort) CLEARED(qsort_r) CLEARED(raise) \
	PERTURBED(rand) PERTURBED(rand_r) CLEARED(read) CLEARED(readdir) WATCHED(readlink) CLEARED(realloc) \
	WATCHED(realpath) TAINTED(UNKNOWN_CALL, recvfrom) TAINTED(UNKNOWN_CALL, recvmmsg) \
	TAINTED(UNKNOWN_CALL, recvmsg) WATCHED(remove) TAINTED(WRITE, rename) CLEARED(rewind) WATCHED(rmdir) \
	CLEARED(round) PERTURBED(sched_get_priority_max) PERTURBED(sched_get_priority_min) WATCHED(sched_getaffinity) \
	CLEARED(sched_yield) WATCHED(secure_getenv) CLEARED(select) CLEARED(sem_destroy) CLEARED(sem_init) \
	CLEARED(sem_post) CLEARED(sem_trywait) CLEARED(sem_wait) TAINTED(UNKNOWN_CALL, sendmmsg) \
	TAINTED(UNKNOWN_CALL, sendmsg) TAINTED(UNKNOWN_CALL, sendto) TAINTED(UNKNOWN_CALL, setenv) WATCHED(setlocale) \
	PERTURBED(setrlimit) CLEARED(setsid) CLEARED(setsockopt) CLEARED(setvbuf) TAINTED(UNKNOWN_CALL, shmat) \
	CLEARED(shmdt) TAINTED(UNKNOWN_CALL, shmget) CLEARED(shutdown) CLEARED(sigaction) CLEARED(sigaddset) \
	CLEARED(sigaltstack) CLEARED(sigemptyset) CLEARED(sigfillset) CLEARED(signal) CLEARED(sigprocmask) \
	ARITHMETIC(D, sin) ODD(sincos) ODD(sincosf) ARITHMETIC(F, sinf) ARITHMETIC(D, sinh) ARITHMETIC(F, sinhf) \
	ODD(sinhl) ODD(sinl) CLEARED(snprintf) TAINTED(UNKNOWN_CALL, socket) CLEARED(sprintf) CLEARED(sqrt) \
	CLEARED(srand) CLEARED(sscanf) WATCHED(stat) WATCHED(stat64) WATCHED(statfs) WATCHED(statfs64) \
	WATCHED(statvfs) CLEARED(stderr) CLEARED(stdin) CLEARED(stdout) CLEARED(stpcpy) CLEARED(strcasecmp) \
	CLEARED(strcat) CLEARED(strchr) CLEARED(strchrnul) CLEARED(strcmp) CLEARED(strcpy) CLEARED(strcspn) \
	CLEARED(strdup) CLEARED(strerror) CLEARED(strerror_r) CLEARED(strftime) CLEARED(strlen) CLEARED(strncat) \
	CLEARED(strncmp) CLEARED(strncpy) CLEARED(strndup) CLEARED(strnlen) CLEARED(strpbrk) CLEARED(strrchr) \
	CLEARED(strsep) CLEARED(strsignal) CLEARED(strspn) CLEARED(strstr) CLEARED(strtod) CLEARED(strtof) \
	CLEARED(strtok) CLEARED(strtok_r) CLEARED(strtol) CLEARED(strtold_l) CLEARED(strtoll) CLEARED(strtoul) \
	CLEARED(strtoull) TAINTED(WRITE, symlink) WATCHED(syscall) WATCHED(sysconf) TAINTED(PROCESS, system) \
	ARITHMETIC(D, tan) ARITHMETIC(F, tanf) ARITHMETIC(D, tanh) ARITHMETIC(F, tanhf) ODD(tanhl) ODD(tanl) \
	CLEARED(tcgetattr) CLEARED(tcsetattr) ODD(tgamma) ODD(tgammaf) PERTURBED(time) CLEARED(tolower) \
	CLEARED(toupper) CLEARED(trunc) TAINTED(WRITE, truncate) TAINTED(UNKNOWN_CALL, uname) CLEARED(ungetc) \
	CLEARED(ungetwc) WATCHED(unlink) TAINTED(WRITE, unlinkat) CLEARED(uselocale) CLEARED(usleep) \
	TAINTED(WRITE, utimensat) WATCHED(vfprintf) WATCHED(vprintf) CLEARED(vsnprintf) CLEARED(vsprintf) \
	CLEARED(wait) CLEARED(wait4) CLEARED(waitpid) CLEARED(wcrtomb) CLEARED(wcscmp) CLEARED(wcslen) \
	CLEARED(wcsnrtombs) CLEARED(wctob) CLEARED(wmemchr) CLEARED(wmemcmp) CLEARED(wmemcpy) CLEARED(wmemmove) \
	CLEARED(wmemset) WATCHED(write) WATCHED(writev) ODD(y0) ODD(y0f) ODD(y1) ODD(y1f) ODD(yn) ODD(ynf)
/* clang-format on */

enum import_id {
#define IMPORT_ID(name)           IMPORT_##name,
#define IMPORT_ID_OF(class, name) IMPORT_##name,
	IMPORTS(IMPORT_ID, IMPORT_ID_OF, IMPORT_ID_OF, IMPORT_ID, IMPORT_ID, IMPORT_ID)
#undef IMPORT_ID
#undef IMPORT_ID_OF
	    IMPORT_COUNT
};

typedef void import_function(void);

/* The replacement of each watched name is watch_name(), which has other parameters where it is defined. */
#define IMPORT_NONE(...)
#define IMPORT_WATCHED(name)   extern import_function replacement_##name __asm__("watch_" #name);
#define IMPORT_OF(class, name) IMPORT_WATCHED(name)
IMPORTS(IMPORT_WATCHED, IMPORT_OF, IMPORT_OF, IMPORT_NONE, IMPORT_NONE, IMPORT_NONE)
#undef IMPORT_WATCHED
#undef IMPORT_OF

struct import_entry {
	import_function *replacement; /* NULL: cleared, or an ODD function */
	char name[31]; /* an array: a pointer would cost every process that preloads the library a relocation */
	bool is_arithmetic;
};

extern const struct import_entry imports[IMPORT_COUNT];
/*
 * The real function of each replacement: the one to which the slots were, or would have been, bound; 0 before
 * watch_patch().
 */
extern _Atomic(uintptr_t) imports_real[IMPORT_COUNT];

/* Returns the entry of that name, or NULL if the name is not listed. */
const struct import_entry *imports_find(const char *name);

#define REPLACEMENT(type, name, params) \
	type watch_##name params;       \
	type watch_##name params

#define REAL(name) ((__typeof__(&watch_##name))atomic_load_explicit(&imports_real[IMPORT_##name], memory_order_relaxed))

#endif
