/* SPDX-License-Identifier: MIT */
/*
 * The library is searched where installations put it: beside the command (build tree, wheel), in ../lib relative to the
 * command (a prefix, a tarball), and in the system's directories (packages). This process loads the library before it
 * preloads it into a program.
 * A copy is recognised by a symbol that no other library defines, because the file may have any name.
 */
#include "cli/console/library.h"

#include "cli/console/console.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef LIBDIR
#define LIBDIR "/usr/local/lib"
#endif

#define LIBRARY        LIBRARY_NAME
#define VERSION_SYMBOL "nvrtccache_library_version" /* no other library has it */
/* ld.so splits LD_PRELOAD at these characters and does not support quoting. */
#define PRELOAD_SEPARATORS ": "
/* Debian installs the libraries of each architecture in a directory of its own. */
#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu/"
#elif defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu/"
#endif

static bool is_file(const char *path)
{
	struct stat found;

	return stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, R_OK) == 0;
}

/* Writes the absolute path of this executable's directory, with a slash at its end; "" if that is unknown. */
static void find_own_directory(char ret_path[PATH_MAX])
{
	/* argv[0] is not used, because it may be a name without a path or any text that the parent process chose */
	ssize_t length = readlink("/proc/self/exe", ret_path, PATH_MAX - 1);
	char *slash;

	ret_path[length > 0 ? length : 0] = '\0';
	slash = strrchr(ret_path, '/');
	if (slash != NULL) {
		slash[1] = '\0';
	}
}

/* The relative places are relative to the directory of the command. */
char *library_find(void)
{
	static const char *const places[] = {LIBRARY,
	                                     "../lib/" LIBRARY,
	                                     "../lib64/" LIBRARY,
	                                     "../lib/" MULTIARCH LIBRARY,
	                                     LIBDIR "/" LIBRARY,
	                                     "/usr/lib/" LIBRARY,
	                                     "/usr/lib64/" LIBRARY,
	                                     "/usr/lib/" MULTIARCH LIBRARY};
	const char *named = getenv("NVRTCCACHE_LIBRARY");
	char directory[PATH_MAX];
	char path[PATH_MAX + sizeof("../lib/" MULTIARCH LIBRARY)];

	if (named && named[0]) {
		/*
		 * the path must be absolute, because ld.so resolves LD_PRELOAD in the program's working directory,
		 * which may be another
		 */
		return is_file(named) ? realpath(named, NULL) : NULL;
	}
	find_own_directory(directory);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		bool is_beside = places[i][0] != '/';

		snprintf(path, sizeof(path), "%s%s", is_beside ? directory : "", places[i]);
		if ((!is_beside || directory[0]) && is_file(path)) {
			return realpath(path, NULL);
		}
	}
	return NULL;
}

/*
 * Returns whether the end of the file is missing, where linkers put the section headers. The loader maps segments
 * without checking the size of the file, and the program would then be killed by SIGBUS. Returns false for a file that
 * is not ELF: dlopen() then fails with an error text of its own.
 */
static bool is_cut_short(const char *path)
{
	FILE *file = fopen(path, "re");
	ElfW(Ehdr) header;
	bool cut = file && fread(&header, sizeof(header), 1, file) == 1 &&
	           memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_shentsize == sizeof(ElfW(Shdr)) &&
	           fseek(file, 0, SEEK_END) == 0 &&
	           header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize > (uint64_t)ftell(file);

	if (file) {
		fclose(file);
	}
	return cut;
}

size_t library_preloaded(struct library_copy ret_copies[], size_t capacity)
{
	const struct link_map *map = NULL;
	void *program = dlopen(NULL, RTLD_LAZY);
	size_t count = 0;

	if (program == NULL || dlinfo(program, RTLD_DI_LINKMAP, &map) != 0) {
		return 0;
	}
	for (; map != NULL && count < capacity; map = map->l_next) {
		/* loads nothing; the handles stay open, because `ret_copies` points into link map and library */
		void *handle = map->l_name[0] != '\0' ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
		const char *version = handle != NULL ? dlsym(handle, VERSION_SYMBOL) : NULL;
		Dl_info holder;

		/* dlsym() searches the dependencies of the object too, so the symbol may belong to another object */
		if (version != NULL && dladdr(version, &holder) != 0 && (uintptr_t)holder.dli_fbase == map->l_addr) {
			ret_copies[count++] = (struct library_copy){map->l_name, version};
		}
	}
	return count;
}

bool library_loads(const char *path, char ret_fault[LIBRARY_FAULT_BYTES])
{
	const char *named = getenv("NVRTCCACHE_LIBRARY");
	void *handle = NULL;

	if (!path && named && named[0]) {
		snprintf(ret_fault, LIBRARY_FAULT_BYTES, "NVRTCCACHE_LIBRARY: '%s' is not a readable file", named);
	} else if (!path) {
		snprintf(ret_fault, LIBRARY_FAULT_BYTES, LIBRARY " is not found; NVRTCCACHE_LIBRARY can name it");
	} else if (strpbrk(path, PRELOAD_SEPARATORS)) {
		snprintf(
		    ret_fault, LIBRARY_FAULT_BYTES,
		    "'%s' cannot be preloaded: its path has a blank or a colon; NVRTCCACHE_LIBRARY can name a copy "
		    "whose path has none",
		    path);
	} else if (is_cut_short(path)) {
		snprintf(ret_fault, LIBRARY_FAULT_BYTES,
		         "the library cannot be loaded: %s: the file is cut short; install it again", path);
	} else if (!(handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL))) {
		snprintf(ret_fault, LIBRARY_FAULT_BYTES, "the library cannot be loaded: %s", dlerror());
	} else if (!dlsym(handle, VERSION_SYMBOL)) {
		snprintf(ret_fault, LIBRARY_FAULT_BYTES, "%s: not " LIBRARY ", but another library", path);
		handle = NULL;
	}
	return handle != NULL;
}

/* Sets LD_PRELOAD to the two lists joined by a colon. Either list may be NULL or empty. */
static bool set_preload(const char *first, const char *second)
{
	bool is_pair = first != NULL && *first != '\0' && second != NULL && *second != '\0';
	char *list = NULL;
	bool done = asprintf(&list, "%s%s%s", first != NULL ? first : "", is_pair ? ":" : "",
	                     second != NULL ? second : "") >= 0 &&
	            setenv("LD_PRELOAD", list, 1) == 0;

	if (!done) {
		console_error("LD_PRELOAD: %s", strerror(errno));
	}
	free(list);
	return done;
}

/*
 * Spells an absolute path so that only glibc's loader finds the file: it expands $LIB to the name of its directory of
 * libraries, for instance lib/x86_64-linux-gnu, and $ORIGIN to that of the program. Another C library's loader (musl)
 * would end each program with the absolute path, and ignores a file that does not exist. $ORIGIN is for systems without
 * that directory below /usr (NixOS); it depends on the program and on /proc.
 */
static const char *const spellings[] = {
    "/usr/$LIB/../../../..",
    "$ORIGIN/../../../../../../../../../../../../../../../../../../../../../../../..",
};

static char *spell_for_glibc(const char *path)
{
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		char *spelled = NULL;

		if (asprintf(&spelled, "%s%s", spellings[i], path) < 0) {
			return NULL;
		}
		if (dlopen(spelled, RTLD_LAZY | RTLD_NOLOAD)) {
			return spelled;
		}
		free(spelled);
	}
	return strdup(path);
}

bool library_preload_file(const char *path)
{
	char *spelled = spell_for_glibc(path);
	bool done = spelled && set_preload(spelled, getenv("LD_PRELOAD"));

	free(spelled);
	return done;
}

bool library_preload(void)
{
	char fault[LIBRARY_FAULT_BYTES], *path;
	struct library_copy copy;
	bool done = false;

	/* programs inherit it; a second copy would do nothing */
	if (library_preloaded(&copy, 1) > 0) {
		return true;
	}
	path = library_find();
	if (library_loads(path, fault)) {
		done = library_preload_file(path);
	} else {
		console_error("%s", fault);
	}
	free(path);
	return done;
}

/* The file name is not enough to recognise a copy, because NVRTCCACHE_LIBRARY may name a file with any name. */
static bool is_copy(const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	return (handle && dlsym(handle, VERSION_SYMBOL)) || strcmp(basename(path), LIBRARY) == 0;
}

bool library_leave(void)
{
	const char *value = getenv("LD_PRELOAD");
	char *list = strdup(value != NULL ? value : "");
	bool done = list != NULL && unsetenv("LD_PRELOAD") == 0;
	char *rest, *path;

	/* LD_PRELOAD is unset first and then gets the other libraries one by one, in their order */
	for (path = done ? strtok_r(list, PRELOAD_SEPARATORS, &rest) : NULL; path != NULL && done;
	     path = strtok_r(NULL, PRELOAD_SEPARATORS, &rest)) {
		done = is_copy(path) || set_preload(getenv("LD_PRELOAD"), path);
	}
	free(list);
	return done;
}

/* ---- programs */

int library_execute(char **argv, pid_t *ret_pid, int *ret_status)
{
	static const int numbers[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	posix_spawnattr_t attributes;
	sigset_t waited_for, before;
	siginfo_t info;
	int error, status = 0;

	(void)fflush(stdout);           /* what was printed so far comes before the program's output */
	(void)signal(SIGCHLD, SIG_DFL); /* if it is ignored, a child's status is lost */
	(void)sigemptyset(&waited_for);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		(void)sigaddset(&waited_for, numbers[i]);
	}
	(void)sigprocmask(SIG_BLOCK, &waited_for, &before);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigmask(&attributes, &before);
	/* reports a program that cannot be executed, which fork() and execvp() would show by a status only */
	error = posix_spawnp(ret_pid, argv[0], NULL, &attributes, argv, environ);
	while (error == 0 && waitpid(*ret_pid, &status, WNOHANG) == 0) {
		/* the terminal and the kernel signal the program too; what a process sends is for this process alone */
		if (sigwaitinfo(&waited_for, &info) > 0 && info.si_signo != SIGCHLD && info.si_code <= 0) {
			(void)kill(*ret_pid, info.si_signo);
		}
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return error;
}

int library_place(const char *verb, char *ret_place, size_t size)
{
	const char *base = getenv("TMPDIR");

	(void)snprintf(ret_place, size, "%s/nvrtccache-%s.XXXXXX", base && base[0] == '/' ? base : "/tmp", verb);
	return mkdtemp(ret_place) ? 0 : -errno;
}
