/* SPDX-License-Identifier: MIT */
/*
 * imports: the table of the libc functions that a compiler library may import (docs/DESIGN.md)
 *
 * Purpose: every function that a compiler imports is listed here once. watch_patch() looks up a library's imports in
 * this table, and so does scripts/census for libraries that it does not run. A library that imports an unlisted
 * function is bypassed: none of its results is cached.
 *
 *   WATCHED(name)     its slot is redirected to a replacement (calls.c: paths, and numbers of the machine; output.c:
 *                     writes; taints.c: the others). Listed are functions that a release of NVRTC, nvJitLink or libNVVM
 *                     imports (`scripts/census --unused` prints the others), functions of LLVM and libstdc++, of which
 *                     these libraries contain copies, and the names that compiler flags or a newer glibc use instead
 *                     (__printf_chk, __open_2, open64, stat)
 *   CLEARED(name)     operates on memory, on threads, or on descriptors and streams that a watched call opened
 *   PERTURBED(name)   answers about the process or the moment, and no answer changes an output: scripts/perturb makes
 *                     it give other answers and compares the outputs (tests/perturb/evidence.txt)
 *
 * dlopen, dlsym and dladdr are CLEARED deliberately, because dlopen takes RUNPATH from its return address. The inexact
 * functions of libm have a table of their own (arithmetic.h).
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
#include <stddef.h>
#include <stdint.h>

/* It would indent each line deeper than the one before. */
/* clang-format off */
#define IMPORTS(WATCHED, CLEARED, PERTURBED) \
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
	CLEARED(__snprintf_chk) CLEARED(__sprintf_chk) CLEARED(__stack_chk_fail) CLEARED(__stack_chk_guard) \
	CLEARED(__stpcpy_chk) CLEARED(__strcat_chk) CLEARED(__strcoll_l) CLEARED(__strcpy_chk) CLEARED(__strdup) \
	CLEARED(__strftime_l) CLEARED(__strncat_chk) CLEARED(__strncpy_chk) CLEARED(__strtod_l) CLEARED(__strtof_l) \
	CLEARED(__strtok_r) CLEARED(__strxfrm_l) CLEARED(__tls_get_addr) CLEARED(__towlower_l) CLEARED(__towupper_l) \
	CLEARED(__uselocale) WATCHED(__vfprintf_chk) WATCHED(__vprintf_chk) CLEARED(__vsnprintf_chk) \
	CLEARED(__vsprintf_chk) CLEARED(__wcscoll_l) CLEARED(__wcsftime_l) CLEARED(__wcsxfrm_l) CLEARED(__wctype_l) \
	CLEARED(__xpg_strerror_r) WATCHED(__xstat) WATCHED(__xstat64) CLEARED(_exit) CLEARED(_setjmp) CLEARED(abort) \
	WATCHED(accept) WATCHED(access) CLEARED(alarm) CLEARED(aligned_alloc) WATCHED(bind) \
	CLEARED(bind_textdomain_codeset) WATCHED(bindtextdomain) CLEARED(bsearch) CLEARED(btowc) CLEARED(calloc) \
	CLEARED(ceil) WATCHED(chdir) WATCHED(chmod) PERTURBED(clock) PERTURBED(clock_gettime) CLEARED(close) \
	CLEARED(closedir) WATCHED(connect) PERTURBED(ctime) WATCHED(dcgettext) WATCHED(dgettext) CLEARED(difftime) \
	CLEARED(dl_iterate_phdr) CLEARED(dladdr) CLEARED(dladdr1) CLEARED(dlclose) CLEARED(dlerror) CLEARED(dlopen) \
	CLEARED(dlsym) PERTURBED(dup) CLEARED(dup2) WATCHED(execv) WATCHED(execve) WATCHED(execvp) CLEARED(exit) \
	CLEARED(fabs) WATCHED(fchmodat) CLEARED(fclose) PERTURBED(fcntl) CLEARED(fdopen) PERTURBED(feclearexcept) \
	CLEARED(fegetenv) CLEARED(feof) CLEARED(ferror) CLEARED(fesetenv) PERTURBED(fetestexcept) CLEARED(fflush) \
	CLEARED(fgetc) CLEARED(fgets) CLEARED(fileno) PERTURBED(flock) CLEARED(floor) CLEARED(floorl) CLEARED(fmod) \
	WATCHED(fopen) WATCHED(fopen64) WATCHED(fork) WATCHED(fprintf) WATCHED(fputc) WATCHED(fputs) CLEARED(fread) \
	CLEARED(free) CLEARED(freeaddrinfo) CLEARED(freelocale) CLEARED(frexpl) CLEARED(fscanf) CLEARED(fseek) \
	CLEARED(fseeko64) CLEARED(fstat) CLEARED(fstat64) PERTURBED(fstatfs) CLEARED(ftell) CLEARED(ftello64) \
	CLEARED(ftruncate) WATCHED(fwrite) CLEARED(gai_strerror) WATCHED(get_nprocs) WATCHED(getaddrinfo) \
	WATCHED(getauxval) CLEARED(getc) WATCHED(getcwd) PERTURBED(getegid) WATCHED(getentropy) WATCHED(getenv) \
	PERTURBED(geteuid) PERTURBED(getgid) WATCHED(gethostbyname) WATCHED(gethostname) WATCHED(getnameinfo) \
	PERTURBED(getpagesize) CLEARED(getpeername) PERTURBED(getpid) WATCHED(getpwnam) WATCHED(getpwnam_r) \
	WATCHED(getpwuid) WATCHED(getpwuid_r) PERTURBED(getrlimit) PERTURBED(getrusage) CLEARED(getsockname) \
	CLEARED(getsockopt) WATCHED(gettext) PERTURBED(gettimeofday) PERTURBED(getuid) CLEARED(getwc) \
	PERTURBED(gmtime) PERTURBED(gmtime_r) CLEARED(iconv) CLEARED(iconv_close) WATCHED(iconv_open) PERTURBED(ioctl) \
	CLEARED(isalnum) CLEARED(isalpha) PERTURBED(isatty) CLEARED(iscntrl) CLEARED(islower) CLEARED(isprint) \
	CLEARED(ispunct) CLEARED(isspace) CLEARED(isupper) CLEARED(isxdigit) CLEARED(kill) WATCHED(link) \
	WATCHED(listen) PERTURBED(localeconv) PERTURBED(localtime_r) CLEARED(logb) CLEARED(longjmp) CLEARED(lseek) \
	CLEARED(lseek64) WATCHED(lstat) WATCHED(lstat64) CLEARED(madvise) PERTURBED(mallinfo) CLEARED(malloc) \
	CLEARED(mbrtowc) CLEARED(mbsnrtowcs) CLEARED(mbsrtowcs) CLEARED(memchr) CLEARED(memcmp) CLEARED(memcpy) \
	CLEARED(memmem) CLEARED(memmove) CLEARED(memrchr) CLEARED(memset) WATCHED(mkdir) WATCHED(mkstemp) \
	WATCHED(mkstemp64) PERTURBED(mlock) CLEARED(mmap) CLEARED(modf) PERTURBED(mprotect) CLEARED(munmap) \
	CLEARED(nanosleep) WATCHED(newlocale) CLEARED(nextafter) WATCHED(open) WATCHED(open64) WATCHED(openat) \
	WATCHED(opendir) WATCHED(perror) PERTURBED(pipe) PERTURBED(poll) PERTURBED(posix_madvise) \
	CLEARED(posix_memalign) WATCHED(posix_spawn) WATCHED(printf) CLEARED(pthread_attr_destroy) \
	CLEARED(pthread_attr_init) CLEARED(pthread_attr_setdetachstate) CLEARED(pthread_attr_setinheritsched) \
	CLEARED(pthread_attr_setschedparam) PERTURBED(pthread_attr_setschedpolicy) \
	PERTURBED(pthread_attr_setstacksize) CLEARED(pthread_cond_broadcast) CLEARED(pthread_cond_destroy) \
	CLEARED(pthread_cond_init) CLEARED(pthread_cond_signal) CLEARED(pthread_cond_timedwait) \
	CLEARED(pthread_cond_wait) PERTURBED(pthread_create) CLEARED(pthread_detach) CLEARED(pthread_exit) \
	CLEARED(pthread_getspecific) CLEARED(pthread_join) CLEARED(pthread_key_create) CLEARED(pthread_key_delete) \
	CLEARED(pthread_kill) CLEARED(pthread_mutex_destroy) CLEARED(pthread_mutex_init) CLEARED(pthread_mutex_lock) \
	PERTURBED(pthread_mutex_trylock) CLEARED(pthread_mutex_unlock) CLEARED(pthread_mutexattr_destroy) \
	CLEARED(pthread_mutexattr_init) CLEARED(pthread_mutexattr_settype) CLEARED(pthread_once) \
	CLEARED(pthread_rwlock_destroy) CLEARED(pthread_rwlock_init) CLEARED(pthread_rwlock_rdlock) \
	CLEARED(pthread_rwlock_unlock) CLEARED(pthread_rwlock_wrlock) CLEARED(pthread_self) \
	CLEARED(pthread_setname_np) CLEARED(pthread_setspecific) CLEARED(pthread_sigmask) WATCHED(putc) \
	WATCHED(putchar) WATCHED(puts) WATCHED(putwc) CLEARED(qsort) CLEARED(qsort_r) CLEARED(raise) PERTURBED(rand) \
	PERTURBED(rand_r) CLEARED(read) CLEARED(readdir) WATCHED(readlink) CLEARED(realloc) WATCHED(realpath) \
	WATCHED(recvfrom) WATCHED(recvmmsg) WATCHED(recvmsg) WATCHED(remove) WATCHED(rename) CLEARED(rewind) \
	WATCHED(rmdir) CLEARED(round) PERTURBED(sched_get_priority_max) PERTURBED(sched_get_priority_min) \
	WATCHED(sched_getaffinity) CLEARED(sched_yield) WATCHED(secure_getenv) CLEARED(select) CLEARED(sem_destroy) \
	CLEARED(sem_init) CLEARED(sem_post) CLEARED(sem_trywait) CLEARED(sem_wait) WATCHED(sendmmsg) WATCHED(sendmsg) \
	WATCHED(sendto) WATCHED(setenv) WATCHED(setlocale) PERTURBED(setrlimit) CLEARED(setsid) CLEARED(setsockopt) \
	CLEARED(setvbuf) WATCHED(shmat) CLEARED(shmdt) WATCHED(shmget) CLEARED(shutdown) CLEARED(sigaction) \
	CLEARED(sigaddset) CLEARED(sigaltstack) CLEARED(sigemptyset) CLEARED(sigfillset) CLEARED(signal) \
	CLEARED(sigprocmask) CLEARED(snprintf) WATCHED(socket) CLEARED(sprintf) CLEARED(sqrt) CLEARED(srand) \
	CLEARED(sscanf) WATCHED(stat) WATCHED(stat64) WATCHED(statfs) WATCHED(statfs64) WATCHED(statvfs) \
	CLEARED(stderr) CLEARED(stdin) CLEARED(stdout) CLEARED(stpcpy) CLEARED(strcasecmp) CLEARED(strcat) \
	CLEARED(strchr) CLEARED(strchrnul) CLEARED(strcmp) CLEARED(strcpy) CLEARED(strcspn) CLEARED(strdup) \
	CLEARED(strerror) CLEARED(strerror_r) CLEARED(strftime) CLEARED(strlen) CLEARED(strncat) CLEARED(strncmp) \
	CLEARED(strncpy) CLEARED(strndup) CLEARED(strnlen) CLEARED(strpbrk) CLEARED(strrchr) CLEARED(strsep) \
	CLEARED(strsignal) CLEARED(strspn) CLEARED(strstr) CLEARED(strtod) CLEARED(strtof) CLEARED(strtok) \
	CLEARED(strtok_r) CLEARED(strtol) CLEARED(strtold_l) CLEARED(strtoll) CLEARED(strtoul) CLEARED(strtoull) \
	WATCHED(symlink) WATCHED(syscall) WATCHED(sysconf) WATCHED(system) CLEARED(tcgetattr) CLEARED(tcsetattr) \
	PERTURBED(time) CLEARED(tolower) CLEARED(toupper) CLEARED(trunc) WATCHED(truncate) WATCHED(uname) \
	CLEARED(ungetc) CLEARED(ungetwc) WATCHED(unlink) WATCHED(unlinkat) CLEARED(uselocale) CLEARED(usleep) \
	WATCHED(utimensat) WATCHED(vfprintf) WATCHED(vprintf) CLEARED(vsnprintf) CLEARED(vsprintf) CLEARED(wait) \
	CLEARED(wait4) CLEARED(waitpid) CLEARED(wcrtomb) CLEARED(wcscmp) CLEARED(wcslen) CLEARED(wcsnrtombs) \
	CLEARED(wctob) CLEARED(wmemchr) CLEARED(wmemcmp) CLEARED(wmemcpy) CLEARED(wmemmove) CLEARED(wmemset) \
	WATCHED(write) WATCHED(writev)
/* clang-format on */

enum import_id {
#define IMPORT_ID(name) IMPORT_##name,
	IMPORTS(IMPORT_ID, IMPORT_ID, IMPORT_ID)
#undef IMPORT_ID
	    IMPORT_COUNT
};

typedef void import_function(void);

/* For each watched name the address of its replacement, which is static in the file that defines it. */
#define IMPORT_WATCHED(name) extern import_function *const replacement_##name;
#define IMPORT_CLEARED(name)
IMPORTS(IMPORT_WATCHED, IMPORT_CLEARED, IMPORT_CLEARED)
#undef IMPORT_WATCHED
#undef IMPORT_CLEARED

struct import_entry {
	char name[32]; /* an array: a pointer would cost every process that preloads the library a relocation */
	import_function *const *replacement; /* NULL: cleared */
};

extern const struct import_entry imports[IMPORT_COUNT];
/*
 * The real function of each replacement: the one to which the slots were, or would have been, bound; 0 before
 * watch_patch().
 */
extern _Atomic(uintptr_t) imports_real[IMPORT_COUNT];

/* Returns the entry of that name, or NULL if the name is not listed. */
const struct import_entry *imports_find(const char *name);

#define REPLACEMENT(type, name, params)                                              \
	static type watch_##name params;                                             \
	import_function *const replacement_##name = (import_function *)watch_##name; \
	static type watch_##name params

#define REAL(name) ((__typeof__(&watch_##name))atomic_load_explicit(&imports_real[IMPORT_##name], memory_order_relaxed))

#endif
