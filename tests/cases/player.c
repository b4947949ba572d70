/* SPDX-License-Identifier: MIT */
/*
 * player: plays case files against the compilers and prints everything that a host can see
 *
 * usage: player LIBRARY DIRECTORY CASE-FILE [LOG [ROUNDS]]
 *
 * The file is played once per digit of ROUNDS (12), each case in a directory of its own which is made anew: rounds of
 * one digit use the same directories. CASE-FILE "-" is standard input, played once in DIRECTORY itself and answered
 * line by line, for a driver that steers several players (players.py).
 *
 * A case begins with "=== A sentence." Each line is a command; "<<" at the end of a line takes the following lines up
 * to one that says "END" as the last word ("<<x": with escapes as in words). Words are separated by blanks; in a word
 * \_ is a blank, \n, \r and \t what they are in C, \x41 a byte, \e nothing. NULL is a null pointer, @T the case's
 * directory, @I the toolkit's headers. With LOG, the case's sentence is appended to that file before the case, so that
 * a reader can tell which log lines belong to it.
 *
 *   source <<            many N <<  (N copies, @N is the number)      name NAME
 *   header NAME <<       headers N <<  (h0.h, h1.h...)                create [N]      use N     destroy
 *   create-with COUNT TEXTS NAMES  (NULL or not)   create-nowhere     destroy-null    destroy-empty
 *   add EXPRESSION       compile OPTION...    compile-count N [OPTION...]     compile-null      lowered EXPRESSION
 *   all    sizes         code    null         get PRODUCT
 *   callback CALLS       (returns 1 from that call on; "none": returns 0 always; NULL: no callback)      called
 *   version              architectures        errors FROM TO          heap [SIZE]     bundled info|install|remove PATH
 *   write PATH <<        append PATH TEXT     unlink PATH             mkdir PATH      chdir PATH
 *   link TARGET PATH     hard OLD NEW         rename OLD NEW          touch PATH      show PATH
 *   age PATH [DAYS]      (2020-01-01 + DAYS)  settle [MS]             (until new files count as old)
 *   rewrite PATH <<      (in place, with the times that it had)
 *   setenv N V           unsetenv N           (undone at the end of the case)         state  (of the process)
 *   thread COMMAND       (in another thread)  child COMMAND           (in a forked child)
 *   mode up|zero|flush|normal    (how this thread rounds; flush: denormals are zero)
 *   mark WORD            (prints the word on a line of its own)
 *   input ...            linker ...           nvvm ...                (README.md tells of them)
 */
#include "calls.h"
#include "texts.h"

#include "tests/files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS 64

static char top[4096];
static char *variables[16]; /* set by the case */
static int variable_count;

static void fail(const char *what)
{
	printf("  FAILED %s: %s\n", what, strerror(errno));
}

static void put(const char *path, const char *text, int flags)
{
	if (!file_put(path, text, strlen(text), flags, 0644)) {
		fail(path);
	}
}

static void mode(const char *wanted)
{
	(void)fesetenv(FE_DFL_ENV);
	if (strcmp(wanted, "up") == 0) {
		(void)fesetround(FE_UPWARD);
	} else if (strcmp(wanted, "zero") == 0) {
		(void)fesetround(FE_TOWARDZERO);
	} else if (strcmp(wanted, "flush") == 0) {
#if defined(__x86_64__)
		__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
		__asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(1) << 24));
#endif
	} else if (strcmp(wanted, "normal") != 0) {
		fail(wanted);
	}
}

static void settle(const char *milliseconds)
{
	struct timespec pause = {0, (milliseconds ? atol(milliseconds) : 50) * 1000000};

	nanosleep(&pause, NULL);
}

static void rewrite(const char *path, const char *text)
{
	struct stat before;

	if (stat(path, &before) != 0) {
		fail(path);
		return;
	}
	put(path, text, O_TRUNC);
	if (utimensat(AT_FDCWD, path, (struct timespec[]){before.st_atim, before.st_mtim}, 0) != 0) {
		fail(path);
	}
}

/* A fixed date, so that output that holds it is the same in every run. */
static void age(const char *path, int days)
{
	struct timespec times[2] = {{1577836800 + days * 86400L, 0}, {1577836800 + days * 86400L, 0}};

	if (utimensat(AT_FDCWD, path, times, 0) != 0) {
		fail(path);
	}
}

/* Puts `text` in the place of the two characters at `at`; returns its last character. */
static char *replace(char *at, const char *text)
{
	size_t size = strlen(text);

	memmove(at + size, at + 2, strlen(at + 2) + 1);
	memcpy(at, text, size);
	return at + size - 1;
}

static void replace_places(char *text)
{
	const char *include = getenv("CUDA_INCLUDE");

	for (char *at = text; *at; at++) {
		if (at[0] == '@' && at[1] == 'T') {
			at = replace(at, top);
		} else if (at[0] == '@' && at[1] == 'I') {
			at = replace(at, include ? include : "/usr/local/cuda/include");
		}
	}
}

static char *escapes(char *text)
{
	char *out = text;

	for (char *in = text; *in; in++) {
		static const char letters[] = "_nrte", bytes[] = " \n\r\t";
		const char *letter = in[0] == '\\' && in[1] ? strchr(letters, in[1]) : NULL;
		unsigned byte;

		if (letter) {
			*out = bytes[letter - letters];
			out += *letter != 'e';
			in++;
		} else if (in[0] == '\\' && in[1] == 'x' && sscanf(in + 2, "%2x", &byte) == 1) {
			*out++ = (char)byte;
			in += 3;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
	return text;
}

static char *unescape(char *word)
{
	replace_places(word);
	return strcmp(word, "NULL") == 0 ? NULL : escapes(word);
}

static void set_variable(const char *variable, const char *value)
{
	if (variable_count < 16) {
		variables[variable_count++] = strdup(variable);
	}
	setenv(variable, value, 1);
}

static void show(const char *path)
{
	size_t size;
	char *bytes = file_read(path, &size);

	if (!bytes) {
		fail(path);
		return;
	}
	printf("  %s holds ", path);
	text_print(bytes, size);
	free(bytes);
}

/* What a library must leave as it was. */
static void state(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGXFSZ, SIGSEGV, SIGABRT, SIGPIPE, SIGCHLD};
	char cwd[4096];
	mode_t mask = umask(0);
	struct rlimit limit;
	int descriptors = 0;
	sigset_t blocked;

	umask(mask);
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	getrlimit(RLIMIT_STACK, &limit);
	for (int i = 0; i < 1024; i++) {
		descriptors += fcntl(i, F_GETFD) >= 0;
	}
	printf("  in %s umask %o stack %llu locale %s descriptors %d\n", getcwd(cwd, sizeof(cwd)), (unsigned)mask,
	       (unsigned long long)limit.rlim_cur, setlocale(LC_ALL, NULL), descriptors);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction action;

		sigaction(signals[i], NULL, &action);
		printf("  signal %d %s%s\n", signals[i],
		       action.sa_handler == SIG_DFL   ? "default"
		       : action.sa_handler == SIG_IGN ? "ignored"
		                                      : "handled",
		       sigismember(&blocked, signals[i]) ? " blocked" : "");
	}
}

static void play(int count, char **words);

struct part {
	int count;
	char **words;
};

static void *play_part(void *context)
{
	struct part *part = context;

	play(part->count, part->words);
	return NULL;
}

static void in_thread(int count, char **words)
{
	struct part part = {count, words};
	pthread_t thread;

	if (pthread_create(&thread, NULL, play_part, &part) == 0) {
		pthread_join(thread, NULL);
	}
}

static void in_child(int count, char **words)
{
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		play(count, words);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("  child %d\n", status);
}

/* True where the verb is about files. */
static int play_files(const char *verb, int count, char **rest)
{
	if (strcmp(verb, "write") == 0) {
		put(rest[0], rest[1], O_TRUNC);
	} else if (strcmp(verb, "append") == 0) {
		put(rest[0], rest[1], O_APPEND);
	} else if (strcmp(verb, "unlink") == 0) {
		(void)(unlink(rest[0]) == 0 || rmdir(rest[0]) == 0 || (fail(rest[0]), 0));
	} else if (strcmp(verb, "mkdir") == 0) {
		(void)(mkdir(rest[0], 0755) == 0 || (fail(rest[0]), 0));
	} else if (strcmp(verb, "chdir") == 0) {
		(void)(chdir(rest[0]) == 0 || (fail(rest[0]), 0));
	} else if (strcmp(verb, "link") == 0) {
		(void)(symlink(rest[0], rest[1]) == 0 || (fail(rest[1]), 0));
	} else if (strcmp(verb, "rename") == 0) {
		(void)(rename(rest[0], rest[1]) == 0 || (fail(rest[0]), 0));
	} else if (strcmp(verb, "age") == 0) {
		age(rest[0], count > 1 ? atoi(rest[1]) : 0);
	} else if (strcmp(verb, "settle") == 0) {
		settle(count > 0 ? rest[0] : NULL);
	} else if (strcmp(verb, "hard") == 0) {
		(void)(link(rest[0], rest[1]) == 0 || (fail(rest[1]), 0));
	} else if (strcmp(verb, "touch") == 0) {
		(void)(utimensat(AT_FDCWD, rest[0], NULL, 0) == 0 || (fail(rest[0]), 0));
	} else if (strcmp(verb, "rewrite") == 0) {
		rewrite(rest[0], rest[1]);
	} else if (strcmp(verb, "show") == 0) {
		show(rest[0]);
	} else {
		return 0;
	}
	return 1;
}

static void play(int count, char **words)
{
	const char *verb = words[0];
	char **rest = words + 1;

	if (call(count, words) || play_files(verb, count - 1, rest)) {
		return;
	}
	if (strcmp(verb, "setenv") == 0) {
		set_variable(rest[0], rest[1]);
	} else if (strcmp(verb, "unsetenv") == 0) {
		unsetenv(rest[0]);
	} else if (strcmp(verb, "mode") == 0) {
		mode(rest[0]);
	} else if (strcmp(verb, "locale") == 0) {
		printf("%s\n", setlocale(LC_ALL, rest[0]) ? "" : "  no such locale");
	} else if (strcmp(verb, "state") == 0) {
		state();
	} else if (strcmp(verb, "thread") == 0) {
		in_thread(count - 1, rest);
	} else if (strcmp(verb, "child") == 0) {
		in_child(count - 1, rest);
	} else if (strcmp(verb, "mark") == 0) {
		printf("%s\n", rest[0]);
	} else {
		printf("  UNKNOWN COMMAND %s\n", verb);
		exit(2);
	}
}

/* Splits a line; a last word "<<" is replaced by the lines that follow, up to END. */
static void command(char *line, FILE *file)
{
	static char text[1 << 20];
	static char buffers[WORDS][8192];
	char *words[WORDS + 1] = {0};
	int count = 0;

	for (char *word = strtok(line, " \t\n"); word && count < WORDS; word = strtok(NULL, " \t\n")) {
		if (strcmp(word, "<<") == 0 || strcmp(word, "<<x") == 0) {
			int escaped = word[2] == 'x';
			size_t size = 0;
			char *next = NULL;
			size_t capacity = 0;

			while (getline(&next, &capacity, file) > 0 && strcmp(next, "END\n") != 0) {
				size += (size_t)snprintf(text + size, sizeof(text) - size, "%s", next);
			}
			text[size] = '\0';
			replace_places(text);
			if (escaped) {
				escapes(text);
			}
			free(next);
			words[count++] = text;
			break;
		}
		snprintf(buffers[count], sizeof(buffers[count]), "%s", word);
		words[count] = unescape(buffers[count]);
		count++;
	}
	if (count) {
		play(count, words);
	}
}

static void begin(const char *directory, int number, const char *sentence, const char *log)
{
	(void)!chdir("/");
	snprintf(top, sizeof(top), "%s/case%d", directory, number);
	remove_tree(top);
	if (mkdir(top, 0755) != 0 || chdir(top) != 0) {
		fail(top);
		exit(2);
	}
	while (variable_count) {
		unsetenv(variables[--variable_count]);
		free(variables[variable_count]);
	}
	(void)setlocale(LC_ALL, "C");
	calls_begin();
	printf("=== %s", sentence);
	if (log) {
		(void)file_put(log, "=== ", 4, O_APPEND, 0600);
		(void)file_put(log, sentence, strlen(sentence), O_APPEND, 0600);
	}
}

static void play_file(const char *path, const char *directory, const char *log)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	char *line = NULL;
	size_t capacity = 0;
	int number = 0;

	if (!file) {
		fail(path);
		exit(2);
	}
	while (getline(&line, &capacity, file) > 0) {
		if (strncmp(line, "=== ", 4) == 0) {
			begin(directory, number++, line + 4, log);
		} else if (line[0] != '#') {
			command(line, file);
			fflush(stdout);
		}
	}
	fclose(file);
	free(line);
}

int main(int argc, char **argv)
{
	const char *rounds = argc > 5 ? argv[5] : "12";

	if (argc < 4 || !calls_open(argv[1])) {
		fprintf(stderr, "usage: player LIBRARY DIRECTORY CASE-FILE [LOG [ROUNDS]]: %s\n",
		        argc < 4 ? "" : dlerror());
		return 2;
	}
	if (strcmp(argv[3], "-") == 0) {
		snprintf(top, sizeof(top), "%s", argv[2]);
		calls_begin();
		play_file(argv[3], argv[2], NULL);
		return 0;
	}
	/* Later rounds meet what earlier ones have left in this process. */
	for (; *rounds; rounds++) {
		char directory[4000];

		/* Of another length for each letter. */
		snprintf(directory, sizeof(directory), "%s/%.*s", argv[2], *rounds - '0', "round-in-another-place");
		(void)mkdir(directory, 0755);
		printf("round %c\n", *rounds);
		play_file(argv[3], directory, argc > 4 ? argv[4] : NULL);
	}
	return 0;
}
