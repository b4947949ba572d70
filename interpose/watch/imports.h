/* SPDX-License-Identifier: MIT */
/*
 * imports: the one table of what a compiler library may ask of libc
 *
 * Purpose: everything in glibc that takes a path, a socket address or a command, reads the environment, brings in
 * content from outside or writes to a descriptor is named here once. A library's imports are looked up in it (by
 * the plan of watch_patch(), and by scripts/census for libraries that need not be run).
 *
 *   WATCHED(name)     its slot is redirected to a replacement of ours (calls.c for paths, output.c for what is written,
 *                     taints.c for the rest). Only what there is reason to expect is: what a release of NVRTC,
 *                     nvJitLink or NVVM imports (`scripts/census --unused` names the others), or LLVM and libstdc++,
 *                     which they hold copies of, and what compiler flags or a newer glibc would make of those names
 *                     (__printf_chk, __open_2, open64, stat)
 *   FORBIDDEN(name)   no replacement: a library that imports it is passed through. Some could be written when a library
 *                     comes that needs them; some cannot: vfork and clone run on the caller's frame, execl and syslog
 *                     take variable arguments that cannot be passed on, `environ` is data.
 *   not in the table  harmless: reads descriptors and streams that a watched call opened, works on memory alone.
 *
 * dlopen, dlsym, dlvsym and dladdr are left out on purpose: dlopen takes RUNPATH from its return address. The
 * functions of the mathematics library have a table of their own (arithmetic.h).
 *
 * The names stand in strcmp order: the look-up is a binary search.
 *
 * How to extend: add the name in order; for WATCHED add `watch_<name>` beside its kin.
 * Threads, fork, signals: constant but for `imports_real`, which is written before the first slot is redirected.
 */
#ifndef INTERPOSE_WATCH_IMPORTS_H
#define INTERPOSE_WATCH_IMPORTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* It would indent each line deeper than the one before. */
/* clang-format off */
#define IMPORTS(WATCHED, FORBIDDEN) \
	FORBIDDEN(_Fork) FORBIDDEN(_IO_file_fopen) FORBIDDEN(_IO_file_open) FORBIDDEN(_IO_fopen) \
	FORBIDDEN(_IO_fprintf) FORBIDDEN(_IO_fputs) FORBIDDEN(_IO_fwrite) FORBIDDEN(_IO_popen) FORBIDDEN(_IO_printf) \
	FORBIDDEN(_IO_proc_open) WATCHED(_IO_putc) FORBIDDEN(_IO_puts) FORBIDDEN(_IO_vfprintf) FORBIDDEN(__access) \
	FORBIDDEN(__clone) FORBIDDEN(__clone2) FORBIDDEN(__connect) FORBIDDEN(__dcgettext) FORBIDDEN(__dgettext) \
	FORBIDDEN(__dprintf_chk) FORBIDDEN(__environ) FORBIDDEN(__fork) WATCHED(__fprintf_chk) \
	FORBIDDEN(__fstatat64_time64) FORBIDDEN(__fwprintf_chk) FORBIDDEN(__fxstatat) FORBIDDEN(__fxstatat64) \
	FORBIDDEN(__gconv_open) FORBIDDEN(__getcwd) WATCHED(__getcwd_chk) FORBIDDEN(__getdomainname_chk) \
	FORBIDDEN(__gethostname_chk) FORBIDDEN(__getlogin_r_chk) FORBIDDEN(__getmntent_r) FORBIDDEN(__getwd_chk) \
	FORBIDDEN(__glob) FORBIDDEN(__libc_dlopen_mode) FORBIDDEN(__libc_fork) FORBIDDEN(__libc_open) \
	FORBIDDEN(__libc_open64) FORBIDDEN(__libc_sendto) FORBIDDEN(__libc_system) FORBIDDEN(__libc_write) \
	FORBIDDEN(__lstat) FORBIDDEN(__lstat64_time64) WATCHED(__lxstat) WATCHED(__lxstat64) FORBIDDEN(__mktemp) \
	FORBIDDEN(__mq_open_2) WATCHED(__newlocale) FORBIDDEN(__open) FORBIDDEN(__open64) WATCHED(__open64_2) \
	WATCHED(__open_2) FORBIDDEN(__open_catalog) FORBIDDEN(__openat) FORBIDDEN(__openat64) FORBIDDEN(__openat64_2) \
	FORBIDDEN(__openat_2) FORBIDDEN(__opendir) FORBIDDEN(__pathconf) FORBIDDEN(__posix_spawn) \
	WATCHED(__printf_chk) FORBIDDEN(__readlink) WATCHED(__readlink_chk) FORBIDDEN(__readlinkat_chk) \
	FORBIDDEN(__realpath) WATCHED(__realpath_chk) FORBIDDEN(__recv) FORBIDDEN(__recv_chk) \
	FORBIDDEN(__recvfrom_chk) FORBIDDEN(__res_init) FORBIDDEN(__res_ninit) FORBIDDEN(__res_nquery) \
	FORBIDDEN(__res_nquerydomain) FORBIDDEN(__res_nsearch) FORBIDDEN(__res_nsend) FORBIDDEN(__res_query) \
	FORBIDDEN(__res_querydomain) FORBIDDEN(__res_search) FORBIDDEN(__res_send) FORBIDDEN(__secure_getenv) \
	FORBIDDEN(__send) FORBIDDEN(__sendmmsg) FORBIDDEN(__setmntent) FORBIDDEN(__socket) FORBIDDEN(__stat) \
	FORBIDDEN(__stat64_time64) FORBIDDEN(__statfs) FORBIDDEN(__sysctl) FORBIDDEN(__syslog_chk) \
	FORBIDDEN(__ttyname_r_chk) FORBIDDEN(__vdprintf_chk) FORBIDDEN(__vfork) WATCHED(__vfprintf_chk) \
	FORBIDDEN(__vfwprintf_chk) WATCHED(__vprintf_chk) FORBIDDEN(__vsyslog_chk) FORBIDDEN(__vwprintf_chk) \
	FORBIDDEN(__wprintf_chk) FORBIDDEN(__write) FORBIDDEN(__xmknod) FORBIDDEN(__xmknodat) WATCHED(__xstat) \
	WATCHED(__xstat64) FORBIDDEN(_environ) WATCHED(accept) FORBIDDEN(accept4) WATCHED(access) FORBIDDEN(acct) \
	FORBIDDEN(addmntent) WATCHED(bind) FORBIDDEN(bindresvport) WATCHED(bindtextdomain) FORBIDDEN(callrpc) \
	FORBIDDEN(canonicalize_file_name) FORBIDDEN(catopen) WATCHED(chdir) FORBIDDEN(chflags) WATCHED(chmod) \
	FORBIDDEN(chown) FORBIDDEN(chroot) FORBIDDEN(clearenv) FORBIDDEN(clnt_broadcast) FORBIDDEN(clnt_create) \
	FORBIDDEN(clnttcp_create) FORBIDDEN(clntudp_bufcreate) FORBIDDEN(clntudp_create) FORBIDDEN(clntunix_create) \
	FORBIDDEN(clone) FORBIDDEN(clone3) WATCHED(connect) FORBIDDEN(copy_file_range) FORBIDDEN(creat) \
	FORBIDDEN(creat64) FORBIDDEN(cuserid) FORBIDDEN(daemon) WATCHED(dcgettext) FORBIDDEN(dcngettext) \
	FORBIDDEN(delete_module) WATCHED(dgettext) FORBIDDEN(dlmopen) FORBIDDEN(dngettext) FORBIDDEN(dprintf) \
	FORBIDDEN(eaccess) FORBIDDEN(environ) FORBIDDEN(err) FORBIDDEN(error) FORBIDDEN(error_at_line) FORBIDDEN(errx) \
	FORBIDDEN(ether_hostton) FORBIDDEN(ether_ntohost) FORBIDDEN(euidaccess) FORBIDDEN(execl) FORBIDDEN(execle) \
	FORBIDDEN(execlp) WATCHED(execv) WATCHED(execve) FORBIDDEN(execveat) WATCHED(execvp) FORBIDDEN(execvpe) \
	FORBIDDEN(faccessat) FORBIDDEN(fanotify_mark) FORBIDDEN(fchdir) WATCHED(fchmodat) FORBIDDEN(fchownat) \
	FORBIDDEN(fexecve) FORBIDDEN(finit_module) WATCHED(fopen) WATCHED(fopen64) WATCHED(fork) FORBIDDEN(forkpty) \
	WATCHED(fprintf) WATCHED(fputc) FORBIDDEN(fputc_unlocked) WATCHED(fputs) FORBIDDEN(fputs_unlocked) \
	FORBIDDEN(fputwc) FORBIDDEN(fputwc_unlocked) FORBIDDEN(fputws) FORBIDDEN(fputws_unlocked) FORBIDDEN(freopen) \
	FORBIDDEN(freopen64) FORBIDDEN(fsmount) FORBIDDEN(fsopen) FORBIDDEN(fspick) FORBIDDEN(fstatat) \
	FORBIDDEN(fstatat64) FORBIDDEN(ftok) FORBIDDEN(fts64_open) FORBIDDEN(fts_open) FORBIDDEN(ftw) FORBIDDEN(ftw64) \
	FORBIDDEN(futimesat) FORBIDDEN(fwprintf) WATCHED(fwrite) FORBIDDEN(fwrite_unlocked) \
	FORBIDDEN(get_current_dir_name) WATCHED(getaddrinfo) FORBIDDEN(getaddrinfo_a) FORBIDDEN(getaliasbyname) \
	FORBIDDEN(getaliasbyname_r) FORBIDDEN(getaliasent) FORBIDDEN(getaliasent_r) WATCHED(getcwd) FORBIDDEN(getdate) \
	FORBIDDEN(getdate_r) FORBIDDEN(getdomainname) WATCHED(getenv) FORBIDDEN(getfsent) FORBIDDEN(getfsfile) \
	FORBIDDEN(getfsspec) FORBIDDEN(getgrent) FORBIDDEN(getgrent_r) FORBIDDEN(getgrgid) FORBIDDEN(getgrgid_r) \
	FORBIDDEN(getgrnam) FORBIDDEN(getgrnam_r) FORBIDDEN(getgrouplist) FORBIDDEN(gethostbyaddr) \
	FORBIDDEN(gethostbyaddr_r) WATCHED(gethostbyname) FORBIDDEN(gethostbyname2) FORBIDDEN(gethostbyname2_r) \
	FORBIDDEN(gethostbyname_r) FORBIDDEN(gethostent) FORBIDDEN(gethostent_r) FORBIDDEN(gethostid) \
	WATCHED(gethostname) FORBIDDEN(getifaddrs) FORBIDDEN(getloadavg) FORBIDDEN(getlogin) FORBIDDEN(getlogin_r) \
	FORBIDDEN(getmntent) FORBIDDEN(getmntent_r) WATCHED(getnameinfo) FORBIDDEN(getnetbyaddr) \
	FORBIDDEN(getnetbyaddr_r) FORBIDDEN(getnetbyname) FORBIDDEN(getnetbyname_r) FORBIDDEN(getnetent) \
	FORBIDDEN(getnetent_r) FORBIDDEN(getnetgrent) FORBIDDEN(getnetgrent_r) FORBIDDEN(getpass) \
	FORBIDDEN(getprotobyname) FORBIDDEN(getprotobyname_r) FORBIDDEN(getprotobynumber) \
	FORBIDDEN(getprotobynumber_r) FORBIDDEN(getprotoent) FORBIDDEN(getprotoent_r) FORBIDDEN(getpt) \
	FORBIDDEN(getpw) FORBIDDEN(getpwent) FORBIDDEN(getpwent_r) WATCHED(getpwnam) WATCHED(getpwnam_r) \
	WATCHED(getpwuid) WATCHED(getpwuid_r) FORBIDDEN(getrpcbyname) FORBIDDEN(getrpcbyname_r) \
	FORBIDDEN(getrpcbynumber) FORBIDDEN(getrpcbynumber_r) FORBIDDEN(getrpcent) FORBIDDEN(getrpcent_r) \
	FORBIDDEN(getrpcport) FORBIDDEN(getservbyname) FORBIDDEN(getservbyname_r) FORBIDDEN(getservbyport) \
	FORBIDDEN(getservbyport_r) FORBIDDEN(getservent) FORBIDDEN(getservent_r) FORBIDDEN(getsgent) \
	FORBIDDEN(getsgent_r) FORBIDDEN(getsgnam) FORBIDDEN(getsgnam_r) FORBIDDEN(getspent) FORBIDDEN(getspent_r) \
	FORBIDDEN(getspnam) FORBIDDEN(getspnam_r) WATCHED(gettext) FORBIDDEN(getttyent) FORBIDDEN(getttynam) \
	FORBIDDEN(getusershell) FORBIDDEN(getutent) FORBIDDEN(getutent_r) FORBIDDEN(getutid) FORBIDDEN(getutid_r) \
	FORBIDDEN(getutline) FORBIDDEN(getutline_r) FORBIDDEN(getutxent) FORBIDDEN(getutxid) FORBIDDEN(getutxline) \
	FORBIDDEN(getwd) FORBIDDEN(getxattr) FORBIDDEN(glob) FORBIDDEN(glob64) WATCHED(iconv_open) \
	FORBIDDEN(if_indextoname) FORBIDDEN(if_nameindex) FORBIDDEN(if_nametoindex) FORBIDDEN(init_module) \
	FORBIDDEN(initgroups) FORBIDDEN(innetgr) FORBIDDEN(inotify_add_watch) FORBIDDEN(iruserok) \
	FORBIDDEN(iruserok_af) FORBIDDEN(lchmod) FORBIDDEN(lchown) FORBIDDEN(lckpwdf) FORBIDDEN(lgetxattr) \
	WATCHED(link) FORBIDDEN(linkat) WATCHED(listen) FORBIDDEN(listxattr) FORBIDDEN(llistxattr) FORBIDDEN(login) \
	FORBIDDEN(login_tty) FORBIDDEN(logout) FORBIDDEN(logwtmp) FORBIDDEN(lremovexattr) FORBIDDEN(lsetxattr) \
	WATCHED(lstat) WATCHED(lstat64) FORBIDDEN(lutimes) WATCHED(mkdir) FORBIDDEN(mkdirat) FORBIDDEN(mkdtemp) \
	FORBIDDEN(mkfifo) FORBIDDEN(mkfifoat) FORBIDDEN(mknod) FORBIDDEN(mknodat) FORBIDDEN(mkostemp) \
	FORBIDDEN(mkostemp64) FORBIDDEN(mkostemps) FORBIDDEN(mkostemps64) WATCHED(mkstemp) WATCHED(mkstemp64) \
	FORBIDDEN(mkstemps) FORBIDDEN(mkstemps64) FORBIDDEN(mktemp) FORBIDDEN(mount) FORBIDDEN(mount_setattr) \
	FORBIDDEN(move_mount) FORBIDDEN(mq_open) FORBIDDEN(mq_unlink) FORBIDDEN(msgget) FORBIDDEN(msgrcv) \
	FORBIDDEN(msgsnd) FORBIDDEN(mtrace) FORBIDDEN(name_to_handle_at) WATCHED(newlocale) FORBIDDEN(nfsservctl) \
	FORBIDDEN(nftw) FORBIDDEN(nftw64) FORBIDDEN(ngettext) WATCHED(open) WATCHED(open64) \
	FORBIDDEN(open_by_handle_at) FORBIDDEN(open_tree) WATCHED(openat) FORBIDDEN(openat64) WATCHED(opendir) \
	FORBIDDEN(openlog) FORBIDDEN(openpty) FORBIDDEN(pathconf) WATCHED(perror) FORBIDDEN(pidfd_getfd) \
	FORBIDDEN(pidfd_open) FORBIDDEN(pivot_root) FORBIDDEN(pmap_getmaps) FORBIDDEN(pmap_getport) \
	FORBIDDEN(pmap_rmtcall) FORBIDDEN(pmap_set) FORBIDDEN(pmap_unset) FORBIDDEN(popen) FORBIDDEN(posix_openpt) \
	WATCHED(posix_spawn) FORBIDDEN(posix_spawnp) WATCHED(printf) FORBIDDEN(process_vm_readv) \
	FORBIDDEN(process_vm_writev) FORBIDDEN(psiginfo) FORBIDDEN(psignal) FORBIDDEN(ptrace) WATCHED(putc) \
	FORBIDDEN(putc_unlocked) WATCHED(putchar) FORBIDDEN(putchar_unlocked) FORBIDDEN(putenv) WATCHED(puts) \
	FORBIDDEN(pututline) FORBIDDEN(pututxline) FORBIDDEN(putw) WATCHED(putwc) FORBIDDEN(putwc_unlocked) \
	FORBIDDEN(putwchar) FORBIDDEN(putwchar_unlocked) FORBIDDEN(pwrite) FORBIDDEN(pwrite64) FORBIDDEN(pwritev) \
	FORBIDDEN(pwritev2) FORBIDDEN(pwritev64) FORBIDDEN(pwritev64v2) FORBIDDEN(quotactl) FORBIDDEN(rcmd) \
	FORBIDDEN(rcmd_af) WATCHED(readlink) FORBIDDEN(readlinkat) WATCHED(realpath) FORBIDDEN(reboot) FORBIDDEN(recv) \
	WATCHED(recvfrom) WATCHED(recvmmsg) WATCHED(recvmsg) WATCHED(remove) FORBIDDEN(removexattr) WATCHED(rename) \
	FORBIDDEN(renameat) FORBIDDEN(renameat2) FORBIDDEN(res_init) FORBIDDEN(res_ninit) FORBIDDEN(res_nquery) \
	FORBIDDEN(res_nquerydomain) FORBIDDEN(res_nsearch) FORBIDDEN(res_nsend) FORBIDDEN(res_query) \
	FORBIDDEN(res_querydomain) FORBIDDEN(res_search) FORBIDDEN(res_send) FORBIDDEN(revoke) FORBIDDEN(rexec) \
	FORBIDDEN(rexec_af) WATCHED(rmdir) FORBIDDEN(rresvport) FORBIDDEN(rresvport_af) FORBIDDEN(ruserok) \
	FORBIDDEN(ruserok_af) FORBIDDEN(ruserpass) FORBIDDEN(scandir) FORBIDDEN(scandir64) FORBIDDEN(scandirat) \
	FORBIDDEN(scandirat64) WATCHED(secure_getenv) FORBIDDEN(sem_open) FORBIDDEN(sem_unlink) FORBIDDEN(semget) \
	FORBIDDEN(semop) FORBIDDEN(semtimedop) FORBIDDEN(send) FORBIDDEN(sendfile) FORBIDDEN(sendfile64) \
	WATCHED(sendmmsg) WATCHED(sendmsg) WATCHED(sendto) FORBIDDEN(setdomainname) WATCHED(setenv) \
	FORBIDDEN(setfsent) FORBIDDEN(sethostent) FORBIDDEN(sethostid) FORBIDDEN(sethostname) WATCHED(setlocale) \
	FORBIDDEN(setmntent) FORBIDDEN(setnetent) FORBIDDEN(setnetgrent) FORBIDDEN(setns) FORBIDDEN(setpwent) \
	FORBIDDEN(setutent) FORBIDDEN(setutxent) FORBIDDEN(setxattr) FORBIDDEN(shm_open) FORBIDDEN(shm_unlink) \
	WATCHED(shmat) WATCHED(shmget) WATCHED(socket) FORBIDDEN(socketpair) FORBIDDEN(splice) WATCHED(stat) \
	WATCHED(stat64) WATCHED(statfs) WATCHED(statfs64) WATCHED(statvfs) FORBIDDEN(statvfs64) FORBIDDEN(statx) \
	FORBIDDEN(svctcp_create) FORBIDDEN(svcudp_bufcreate) FORBIDDEN(svcudp_create) FORBIDDEN(svcunix_create) \
	FORBIDDEN(swapoff) FORBIDDEN(swapon) WATCHED(symlink) FORBIDDEN(symlinkat) WATCHED(syscall) FORBIDDEN(sysctl) \
	FORBIDDEN(syslog) WATCHED(system) FORBIDDEN(tee) FORBIDDEN(tempnam) FORBIDDEN(textdomain) FORBIDDEN(tmpfile) \
	FORBIDDEN(tmpfile64) FORBIDDEN(tmpnam) FORBIDDEN(tmpnam_r) WATCHED(truncate) FORBIDDEN(truncate64) \
	FORBIDDEN(ttyname) FORBIDDEN(ttyname_r) FORBIDDEN(ulckpwdf) FORBIDDEN(umount) FORBIDDEN(umount2) \
	WATCHED(uname) WATCHED(unlink) WATCHED(unlinkat) FORBIDDEN(unsetenv) FORBIDDEN(unshare) FORBIDDEN(updwtmp) \
	FORBIDDEN(updwtmpx) FORBIDDEN(uselib) FORBIDDEN(ustat) FORBIDDEN(utime) WATCHED(utimensat) FORBIDDEN(utimes) \
	FORBIDDEN(utmpname) FORBIDDEN(utmpxname) FORBIDDEN(vdprintf) FORBIDDEN(verr) FORBIDDEN(verrx) FORBIDDEN(vfork) \
	WATCHED(vfprintf) FORBIDDEN(vfwprintf) FORBIDDEN(vmsplice) WATCHED(vprintf) FORBIDDEN(vsyslog) \
	FORBIDDEN(vwarn) FORBIDDEN(vwarnx) FORBIDDEN(vwprintf) FORBIDDEN(warn) FORBIDDEN(warnx) FORBIDDEN(wordexp) \
	FORBIDDEN(wprintf) WATCHED(write) WATCHED(writev)
/* clang-format on */

enum import_id {
#define IMPORT_ID(name) IMPORT_##name,
	IMPORTS(IMPORT_ID, IMPORT_ID)
#undef IMPORT_ID
	    IMPORT_COUNT
};

typedef void import_function(void);

/* One per watched name: the address of its replacement, which is private to the file that defines it. */
#define IMPORT_WATCHED(name) extern import_function *const replacement_##name;
#define IMPORT_FORBIDDEN(name)
IMPORTS(IMPORT_WATCHED, IMPORT_FORBIDDEN)
#undef IMPORT_WATCHED
#undef IMPORT_FORBIDDEN

struct import_entry {
	const char *name;
	import_function *const *replacement; /* NULL: forbidden */
};

extern const struct import_entry imports[IMPORT_COUNT];
/* What each replacement calls: the function that the slots would have been bound to; 0 until watch_patch(). */
extern _Atomic(uintptr_t) imports_real[IMPORT_COUNT];

/* The table's entry of that name, or NULL: harmless. */
const struct import_entry *imports_find(const char *name);

#define REPLACEMENT(type, name, params)                                              \
	static type watch_##name params;                                             \
	import_function *const replacement_##name = (import_function *)watch_##name; \
	static type watch_##name params

#define REAL(name) ((__typeof__(&watch_##name))atomic_load_explicit(&imports_real[IMPORT_##name], memory_order_relaxed))

#endif
