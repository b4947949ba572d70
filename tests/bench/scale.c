/* SPDX-License-Identifier: MIT */
/*
 * scale: what a large cache costs, against a small one
 *
 * usage: scale COMMAND [ENTRIES [FEW]]     COMMAND: build/nvrtccache; 1000000 against 1000 if nothing is said
 *        scale plant DIRECTORY ENTRIES     fills a directory and leaves it, for commands that work on all of it
 *
 * Fills a private directory in $TMPDIR with so many sound entries (written directly, in the store's own format), times
 * look-ups, stores that must evict and the command's work on it, and removes it. Numbers are medians unless they say
 * otherwise. Where tracing is not allowed, system calls are not counted.
 */
#include "cache/counters.h"
#include "cache/store.h"
#include "cache/upkeep/sample.h"
#include "tests/bench/timing.h"
#include "tests/unit/syscalls.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define LOOKS        20000
#define PROCESSES    200
#define STORES       3000
#define TRACED       1000
#define DEPENDENCIES 40
#define TIMES_MAX    LOOKS
#define NOT_PLANTED  3000000000u

static char root[4096];
static const char *command;
static const char *self;
static int64_t times[TIMES_MAX];

__attribute__((noreturn)) static void fail(const char *what, int rc)
{
	fprintf(stderr, "scale: %s: %s\n", what, strerror(rc < 0 ? -rc : errno));
	exit(1);
}

static uint64_t mix(uint64_t number)
{
	number = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
	number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
	return number ^ number >> 31;
}

/* Numbers are spread as digests are. */
static void key_of(uint64_t number, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	for (uint64_t i = 0; i < ENTRY_KEY_BYTES / 8; i++) {
		uint64_t part = mix(number * 4 + i);

		memcpy(ret_key + i * 8, &part, sizeof(part));
	}
}

/* A small result: 400 to 1,400 bytes. */
static struct entry *entry_of(uint64_t number)
{
	static const char text[1024];
	struct section section = {.tag = 1, .bytes = text, .size = 128 + mix(number) % 896};
	uint8_t dependencies[DEPENDENCIES] = {1};
	uint8_t key[ENTRY_KEY_BYTES];
	struct entry *entry;
	int rc;

	key_of(number, key);
	rc = entry_build(key, 1, dependencies, sizeof(dependencies), &section, 1, &entry);
	if (rc < 0) {
		fail("entry", rc);
	}
	return entry;
}

static struct store *open_store(uint64_t cap)
{
	static struct store store;

	store = (struct store){.directory.path = root, .max_size = cap};
	return &store;
}

static int put(struct store *store, uint64_t number)
{
	struct entry *entry = entry_of(number);
	int rc = store_put(store, entry);

	entry_unref(entry);
	return rc;
}

static bool holds(void *context, const void *dependencies, size_t size)
{
	return size == DEPENDENCIES;
}

static bool get(struct store *store, uint64_t number)
{
	uint8_t key[ENTRY_KEY_BYTES];
	struct entry *entry;

	key_of(number, key);
	if (store_get(store, key, holds, NULL, &entry) != 0) {
		return false;
	}
	entry_unref(entry);
	return true;
}

static void row(const char *what, double value, const char *unit)
{
	printf("  %-58s %14.1f %s\n", what, value, unit);
	fflush(stdout);
}

/* Of `count` times, the one that this share of them does not exceed. */
static void row_of_times(const char *what, size_t count, double share)
{
	row(what, (double)sorted_at(times, count, (size_t)((double)(count - 1) * share)) / 1e3, "us");
}

/* What filling left to be written must not be in the way of what is measured. */
static void sync_and_settle(void)
{
	int place = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)syncfs(place);
	close(place);
}

/* Files as stores leave them, used a day ago and a millisecond apart. Returns what they take on the disk. */
static uint64_t plant(unsigned count)
{
	struct timespec wall;
	struct store *store = open_store(0);
	uint64_t bytes = 0;
	int places[256];
	int64_t start = now();
	char path[4200];
	struct stat found;

	if (put(store, 0) < 0) {
		fail(root, 0);
	}
	clock_gettime(CLOCK_REALTIME, &wall);
	for (unsigned i = 0; i < 256; i++) {
		(void)snprintf(path, sizeof(path), "%s/v1/%02x", root, i);
		(void)mkdir(path, 0700);
		places[i] = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (places[i] < 0) {
			fail(path, 0);
		}
	}
	for (unsigned i = 0; i < count; i++) {
		struct entry *entry = entry_of(i);
		struct timespec stamps[2] = {{wall.tv_sec - 86400 - (count - i) / 1000, (count - i) % 1000 * 1000000L}};
		const uint8_t *key = entry_info(entry)->key;
		char name[2 * ENTRY_KEY_BYTES];
		size_t size;
		const void *whole = entry_bytes(entry, &size);
		int file;

		stamps[1] = stamps[0];
		for (size_t k = 1; k < ENTRY_KEY_BYTES; k++) {
			(void)snprintf(name + 2 * (k - 1), 3, "%02x", key[k]);
		}
		file = openat(places[key[0]], name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (file < 0 || write(file, whole, size) != (ssize_t)size || futimens(file, stamps) < 0 ||
		    fstat(file, &found) < 0) {
			fail("an entry", 0);
		}
		close(file);
		bytes += sample_bytes_of(&found);
		entry_unref(entry);
	}
	for (unsigned i = 0; i < 256; i++) {
		close(places[i]);
	}
	/* it tells of one entry */
	(void)snprintf(path, sizeof(path), "%s/v1/sums", root);
	(void)unlink(path);
	row("filling it", (double)(now() - start) / 1e9, "s");
	return bytes;
}

static void look_here(const char *what, unsigned count, bool there)
{
	struct store *store = open_store(0);
	unsigned found = 0;
	char text[100];

	for (unsigned i = 0; i < LOOKS; i++) {
		uint64_t number = (there ? 0 : NOT_PLANTED) + mix(i) % count;
		int64_t start = now();

		found += get(store, number);
		times[i] = now() - start;
	}
	if (found != (there ? LOOKS : 0)) {
		fail("look-ups", -ENOENT);
	}
	(void)snprintf(text, sizeof(text), "%s, any of all", what);
	row_of_times(text, LOOKS, 0.5);
}

/* The same 1,000 again and again: what the processor has to keep is then no larger than in a small cache. */
static void look_again(const char *what, unsigned count)
{
	struct store *store = open_store(0);

	for (unsigned i = 0; i < 2 * LOOKS; i++) {
		int64_t start = now();

		(void)!get(store, mix(i % 1000) % count);
		times[i % LOOKS] = now() - start;
	}
	row_of_times(what, LOOKS, 0.5);
}

/* The first look-up of a process: prints its time. */
static int look_once(uint64_t number)
{
	int64_t start = now();
	struct store *store = open_store(0);
	bool found = get(store, number);
	int64_t took = now() - start;

	printf("%d %lld\n", found, (long long)took);
	return 0;
}

static void look_afresh(const char *what, unsigned count, bool there)
{
	for (unsigned i = 0; i < PROCESSES; i++) {
		char line[6000];
		long long took;
		int found;
		FILE *pipe;

		(void)snprintf(line, sizeof(line), "exec '%s' look '%s' %llu", self, root,
		               (unsigned long long)((there ? 0 : NOT_PLANTED) + mix(i + 77777) % count));
		pipe = popen(line, "r");
		if (!pipe || fscanf(pipe, "%d %lld", &found, &took) != 2 || pclose(pipe) != 0 || found != there) {
			fail("a fresh process", 0);
		}
		times[i] = took;
	}
	row_of_times(what, PROCESSES, 0.5);
}

static struct syscalls counts[TRACED];

static void traced_store(void *context, unsigned step)
{
	(void)put(context, NOT_PLANTED + 500000 + step);
}

static void store_and_evict(uint64_t cap)
{
	const uint64_t evicted = counters_here(COUNTER_TOTAL_evictions);
	struct store *store = open_store(cap);
	uint64_t sum = 0;
	unsigned most = 0;

	for (unsigned i = 0; i < STORES; i++) {
		int64_t start = now();

		if (put(store, NOT_PLANTED + i) < 0) {
			fail("a store", 0);
		}
		times[i] = now() - start;
		sum += (uint64_t)times[i];
	}
	row_of_times("a store that must evict", STORES, 0.5);
	row("  mean", (double)sum / STORES / 1e3, "us");
	row_of_times("  one in a thousand takes longer than", STORES, 0.999);
	row("  entries that it removed, each", (double)(counters_here(COUNTER_TOTAL_evictions) - evicted) / STORES, "");
	if (syscalls_count(traced_store, store, TRACED, counts)) {
		sum = 0;
		for (unsigned i = 0; i < TRACED; i++) {
			sum += counts[i].all;
			most = counts[i].all > most ? counts[i].all : most;
		}
		row("  system calls, mean", (double)sum / TRACED, "");
		row("  system calls, most", most, "");
	} else {
		printf("  system calls are not counted: tracing is not allowed here\n");
	}
}

static double milliseconds(struct timeval time)
{
	return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

/* Time on the clock, and of processors. */
static void run_line(const char *what, const char *line)
{
	struct rusage before, after;
	int64_t start = now();

	(void)getrusage(RUSAGE_CHILDREN, &before);
	if (system(line) != 0) {
		fail(line, -EIO);
	}
	(void)getrusage(RUSAGE_CHILDREN, &after);
	printf("  %-58s %14.1f ms, %.1f ms of processors\n", what, (double)(now() - start) / 1e6,
	       milliseconds(after.ru_utime) + milliseconds(after.ru_stime) - milliseconds(before.ru_utime) -
	           milliseconds(before.ru_stime));
	fflush(stdout);
}

/* `place`: behind the name of the directory. */
static void run_command_in(const char *place, const char *what, const char *words)
{
	char line[16000];

	(void)snprintf(line, sizeof(line), "NVRTCCACHE_DIR='%s%s' NVRTCCACHE_MAX_SIZE=1T '%s' %s >/dev/null", root,
	               place, command, words);
	run_line(what, line);
}

static void run_command(const char *what, const char *words)
{
	run_command_in("", what, words);
}

/* What other programs need for as many files. */
static void run_other(const char *what, const char *words, const char *place)
{
	char line[9000];

	(void)snprintf(line, sizeof(line), "%s '%s%s' >/dev/null", words, root, place);
	run_line(what, line);
}

static void carry(void)
{
	char words[4400];

	(void)snprintf(words, sizeof(words), "export '%s.nvb'", root);
	run_command("nvrtccache export", words);
	(void)snprintf(words, sizeof(words), "import '%s.nvb'", root);
	run_command_in(".other", "nvrtccache import", words);
	run_command_in(".other", "nvrtccache import, all there already", words);
	run_other("rm -rf of what was imported", "rm -rf", ".other");
}

static void look_at_directory(unsigned count, uint64_t bytes)
{
	char path[4200];
	struct stat found;

	(void)snprintf(path, sizeof(path), "%s/v1/80", root);
	row("entries in a directory", (double)count / 256, "");
	row("blocks of the entries", (double)bytes / 1048576, "MiB");
	if (stat(path, &found) == 0) {
		row("size of one directory of the 256", (double)found.st_size / 1024, "KiB");
	}
}

static void measure(unsigned count)
{
	char words[100];
	uint64_t bytes;

	(void)mkdir(root, 0700);
	printf("%u entries\n", count);
	bytes = plant(count);
	sync_and_settle();
	look_at_directory(count, bytes);
	run_command("nvrtccache stats, nothing known", "stats");
	run_command("nvrtccache prune, nothing to remove", "prune");
	run_command("nvrtccache stats", "stats");
	run_command("nvrtccache stats --count", "stats --count");
	run_command("nvrtccache ls", "ls");
	run_command("nvrtccache verify", "verify");
	run_other("ls -RU, which asks no file for anything", "ls -RU", "");
	run_other("du", "du -s", "");
	carry();
	look_here("a first hit", count, true);
	look_here("a hit", count, true);
	look_again("a hit, a thousand of all", count);
	look_here("a miss", count, false);
	look_afresh("a hit, the first of a process", count, true);
	look_afresh("a miss, the first of a process", count, false);
	store_and_evict(bytes);
	run_command("nvrtccache stats, after these", "stats");
	(void)snprintf(words, sizeof(words), "prune --max-size %llu", (unsigned long long)bytes / 2);
	run_command("nvrtccache prune, half of it", words);
	run_command("nvrtccache clear, the other half", "clear");
}

int main(int argc, char **argv)
{
	char top[4000];

	if (argc == 4 && strcmp(argv[1], "look") == 0) {
		(void)snprintf(root, sizeof(root), "%s", argv[2]);
		return look_once(strtoull(argv[3], NULL, 10));
	}
	if (argc == 4 && strcmp(argv[1], "plant") == 0) {
		(void)snprintf(root, sizeof(root), "%s", argv[2]);
		(void)plant((unsigned)strtoul(argv[3], NULL, 10));
		return 0;
	}
	if (argc < 2) {
		fprintf(stderr, "usage: scale COMMAND [ENTRIES [FEW]], or scale plant DIRECTORY ENTRIES\n");
		return 2;
	}
	command = argv[1];
	self = argv[0];
	if (!private_directory_make(top, sizeof(top), "nvrtccache-scale")) {
		fail(top, 0);
	}
	for (int i = 0; i < 2; i++) {
		const char *text = argc > 3 - i ? argv[3 - i] : i ? "1000000" : "1000";

		(void)snprintf(root, sizeof(root), "%s/%d", top, i);
		measure((unsigned)strtoul(text, NULL, 10));
	}
	remove_tree(top);
	return 0;
}
