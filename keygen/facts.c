/* SPDX-License-Identifier: MIT */
/*
 * The facts stand one after the other as in their file, and a hash table has their numbers: a process that knows a few
 * touches few pages. Nothing is locked. The halves of a fact may come from two that were written at once; both halves
 * of a wanted fact are equal only if that fact was written.
 */
#include "keygen/facts.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_MAX (2 * FACTS_FILE_MAX) /* later facts replace the oldest */
#define SLOTS    (2 * LIST_MAX)
#define TRIES    8

/* Begins like an entry (cache/entry.h), so that the file counts as one of ours. */
static const uint8_t magic[16] = {0x8e, 'N', 'V', 'R', 'T', 'C', '\r', '\n', 'f', 'a', 'c', 't', 's', '1'};

/* The head of a file, before the facts. The secret is made of the seed and the boot id. */
struct head {
	uint8_t magic[sizeof(magic)];
	struct key seed;
};

_Static_assert(sizeof(struct head) == sizeof(magic) + KEY_BYTES, "the file's size is known");

/* A fingerprint is made of so many words: world, inode, size, two times, mode, digest, directory (0: any). */
#define WORDS 12
__extension__ typedef unsigned __int128 product;

_Static_assert(WORDS == 2 + 5 + KEY_BYTES / 8 + 1 && WORDS * 8 <= SECRET_BYTES, "the words and their secrets");
_Static_assert(sizeof(struct mount) == 24, "no padding");

static struct {
	struct head head;
	struct {
		_Atomic uint64_t low, high;
	} list[LIST_MAX];
} known;

static _Atomic uint32_t known_count;    /* that were ever added */
static _Atomic uint16_t numbers[SLOTS]; /* of facts in the list, plus 1; 0: none */

_Static_assert(LIST_MAX < UINT16_MAX && sizeof(known.list[0]) == sizeof(struct fingerprint), "they are as in the file");

static const struct facts_file *kept_in;

enum state { UNASKED, FILLED, UNUSABLE };

/* Written once, by the thread that writes its negative process id to `state`. */
static struct {
	_Atomic int state; /* enum state; negative: the process whose thread fills the table */
	struct secret secret;
	struct key name;
	bool has_name;
	uint8_t who[CREDENTIALS_BYTES];
} process;

void facts_keep_in(const struct facts_file *file)
{
	kept_in = file;
}

/* Multiplied, because the sums of files with successive inode numbers are evenly spaced. */
static inline size_t slot_of(const struct fingerprint *print)
{
	return ((print->low ^ print->high) * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (SLOTS - 1);
}

/* A slot is never emptied, so the search ends at an empty one. */
static inline bool is_known(const struct fingerprint *print)
{
	for (size_t i = 0; i < TRIES; i++) {
		const uint32_t number =
		    atomic_load_explicit(&numbers[(slot_of(print) + i) % SLOTS], memory_order_relaxed);

		if (number == 0) {
			break;
		}
		if (atomic_load_explicit(&known.list[number - 1].low, memory_order_relaxed) == print->low &&
		    atomic_load_explicit(&known.list[number - 1].high, memory_order_relaxed) == print->high) {
			return true;
		}
	}
	return false;
}

/* If there is no free slot, the first one is overwritten. */
static void enter_number(const struct fingerprint *print, uint32_t number)
{
	size_t slot = slot_of(print);

	for (size_t i = 0; i < TRIES; i++) {
		const size_t next = (slot_of(print) + i) % SLOTS;

		if (atomic_load_explicit(&numbers[next], memory_order_relaxed) == 0) {
			slot = next;
			break;
		}
	}
	atomic_store_explicit(&numbers[slot], (uint16_t)(number + 1), memory_order_relaxed);
}

/* The slot of an overwritten fact stays; it leads to a fact that is not the wanted one. */
static void add_known(const struct fingerprint *print)
{
	const uint32_t number = atomic_fetch_add_explicit(&known_count, 1, memory_order_relaxed) % LIST_MAX;

	atomic_store_explicit(&known.list[number].low, print->low, memory_order_relaxed);
	atomic_store_explicit(&known.list[number].high, print->high, memory_order_relaxed);
	enter_number(print, number);
}

/* Reads the file to `head` and what follows it, FACTS_FILE_BYTES. Returns the number of facts; 0: there is no file. */
static size_t read_file(struct head *head)
{
	const int size = kept_in->get(&process.name, head, FACTS_FILE_BYTES);

	return size < (int)sizeof(*head) || memcmp(head->magic, magic, sizeof(magic)) != 0
	           ? 0
	           : ((size_t)size - sizeof(*head)) / sizeof(struct fingerprint);
}

/* Reads the facts to their place in the list, without a copy. */
static size_t fill_list(void)
{
	const size_t count = read_file(&known.head);

	for (uint32_t i = 0; i < count; i++) {
		const struct fingerprint print = {atomic_load_explicit(&known.list[i].low, memory_order_relaxed),
		                                  atomic_load_explicit(&known.list[i].high, memory_order_relaxed)};

		enter_number(&print, i);
	}
	atomic_store_explicit(&known_count, (uint32_t)count, memory_order_relaxed);
	return count;
}

/*
 * Finds the secret: that of the file, or a new one. Without a boot id there is no file, because the facts of an earlier
 * boot would be among those of this one.
 */
static bool prepare_process(const struct credentials *credentials)
{
	struct {
		struct key seed;
		char boot[STAMP_BOOT_BYTES];
		uint8_t who[CREDENTIALS_BYTES];
	} text = {.boot = {0}};
	const struct span name = {text.boot, sizeof(text.boot) + sizeof(text.who)};
	const struct span fresh = {&process.secret, sizeof(process.secret)};
	size_t count = 0;

	memcpy(process.who, credentials->who, sizeof(process.who));
	memcpy(text.who, credentials->who, sizeof(text.who));
	process.has_name = kept_in && stamp_boot(text.boot);
	if (process.has_name) {
		digest_key(&name, 1, &process.name);
		count = fill_list();
	}
	if (count == 0) {
		if (digest_random_secret(&process.secret) != 0) {
			return false;
		}
		memcpy(known.head.magic, magic, sizeof(magic));
		digest_key(&fresh, 1, &known.head.seed);
	}
	text.seed = known.head.seed;
	digest_secret(&text, sizeof(text), &process.secret);
	return true;
}

/* Fills the table. Returns false if the process has no facts, or another thread is filling it. */
static bool prepare_once(const struct credentials *credentials)
{
	int state = atomic_load_explicit(&process.state, memory_order_acquire);

	/* a child has no thread that fills for it */
	if ((state == UNASKED || (state < 0 && state != -getpid())) &&
	    atomic_compare_exchange_strong(&process.state, &state, -getpid())) {
		state = prepare_process(credentials) ? FILLED : UNUSABLE;
		atomic_store_explicit(&process.state, state, memory_order_release);
	}
	return state == FILLED;
}

void facts_begin(struct facts *facts)
{
	facts->mounts = 0; /* the other fields are written before they are read */
	facts->usable = false;
	facts->news = NULL;
	facts->news_count = 0;
}

/* Reads the credentials of the thread. Without them there is no secret. */
static void prepare(struct facts *facts)
{
	credentials_look(&facts->credentials);
	facts->usable = prepare_once(&facts->credentials);
	facts->ours = facts->usable && memcmp(facts->credentials.who, process.who, sizeof(process.who)) == 0;
}

const struct facts_mount *facts_add_mount(struct facts *facts, const char *path, uint64_t device, uint64_t number)
{
	static const struct facts_mount unknown = {.mount = {.kind = MOUNT_UNKNOWN}};
	struct facts_mount *mount;
	struct span identity;

	if (facts->mounts == FACTS_MOUNTS_MAX) {
		return &unknown;
	}
	mount = &facts->mount[facts->mounts];
	if (facts->mounts++ == 0) {
		prepare(facts);
	}
	mount->number = number;
	mount_identify(path, device, number, &mount->mount);
	identity = (struct span){&mount->mount, sizeof(mount->mount)};
	digest_fingerprint(&process.secret, &identity, 1, &mount->world);
	return mount;
}

bool facts_settled(const struct file_stamp *stamp, const struct facts_mount *mount, int64_t read_ns)
{
	return mount->mount.kind != MOUNT_UNKNOWN && stamp->size > 0 && file_stamp_settled(stamp, read_ns);
}

static inline uint64_t word_of(const struct secret *secret, size_t index)
{
	uint64_t word;

	memcpy(&word, secret->low + index * sizeof(word), sizeof(word));
	return word;
}

/* A rule for a directory applies to one hard link of a file and not to another. NULL: any directory. */
static inline uint64_t word_of_directory(const struct span *directory)
{
	struct fingerprint print = {0};

	if (directory) {
		digest_fingerprint(&process.secret, directory, 1, &print);
	}
	return print.low;
}

/*
 * NH of UMAC (RFC 4418) with words of 64 bits: for an unknown secret, two texts have the same sum with a probability of
 * 2^-64, whatever they are. Not digest_fingerprint(), which takes three times as long: this is done for each header of
 * each hit.
 */
static inline struct fingerprint print_of(const struct facts_mount *mount, const struct file_stamp *stamp,
                                          const uint8_t digest[KEY_BYTES], const struct span *directory)
{
	const struct fingerprint *world = &mount->world;
	uint64_t words[WORDS] = {
	    world->low, world->high, stamp->inode, stamp->size, (uint64_t)stamp->mtime_ns, (uint64_t)stamp->ctime_ns,
	    stamp->mode};
	const struct secret *secret = &process.secret;
	product sum = 0;

	memcpy(&words[7], digest, KEY_BYTES);
	words[WORDS - 1] = word_of_directory(directory);
#pragma GCC unroll 6
	for (size_t i = 0; i < WORDS; i += 2) {
		sum += (product)(words[i] + word_of(secret, i)) * (words[i + 1] + word_of(secret, i + 1));
	}
	return (struct fingerprint){(uint64_t)sum, (uint64_t)(sum >> 64)};
}

/* An empty file is always read: on some file systems (procfs) a file of size 0 has content. */
static inline bool know(const struct facts *facts, const struct file_stamp *stamp, const struct facts_mount *mount,
                        const uint8_t digest[KEY_BYTES], const struct span *directory)
{
	struct fingerprint print;

	if (!facts->usable || mount->mount.kind == MOUNT_UNKNOWN || stamp->size == 0) {
		return false;
	}
	print = print_of(mount, stamp, digest, directory);
	return is_known(&print);
}

bool facts_opened_here(struct facts *facts, const struct span *directory, const struct file_stamp *stamp,
                       const struct facts_mount *mount, const uint8_t digest[KEY_BYTES])
{
	return facts->ours && know(facts, stamp, mount, digest, directory);
}

bool facts_know_content(struct facts *facts, const struct file_stamp *stamp, const struct facts_mount *mount,
                        const uint8_t digest[KEY_BYTES])
{
	return know(facts, stamp, mount, digest, NULL);
}

/* Keeps a fact for the file. */
static void add_news(struct facts *facts, const struct fingerprint *print)
{
	if (!facts->news) {
		facts->news = malloc(FACTS_FILE_MAX * sizeof(*facts->news));
	}
	if (facts->news && facts->news_count < FACTS_FILE_MAX) {
		facts->news[facts->news_count++] = *print;
	}
}

/* What a thread with other credentials could open says nothing of these. */
void facts_learn(struct facts *facts, const struct span *directory, const struct file_stamp *stamp,
                 const struct facts_mount *mount, const uint8_t digest[KEY_BYTES])
{
	struct fingerprint print;

	if (!facts->ours) {
		return;
	}
	print = print_of(mount, stamp, digest, directory);
	if (is_known(&print)) {
		return;
	}
	add_known(&print);
	if (!directory) {
		add_news(facts, &print);
	}
}

/* The new facts come first, so that the oldest ones are dropped. Facts with another secret are of no use. */
static void write_file(const struct facts *facts)
{
	struct head *old = malloc(FACTS_FILE_BYTES);
	uint8_t *bytes = malloc(FACTS_FILE_BYTES);
	size_t size = sizeof(*old);
	size_t before, room;

	if (old && bytes) {
		before = read_file(old) * sizeof(*facts->news);
		before = before > 0 && memcmp(old, &known.head, sizeof(*old)) == 0 ? before : 0;
		memcpy(bytes, &known.head, size);
		memcpy(bytes + size, facts->news, facts->news_count * sizeof(*facts->news));
		size += facts->news_count * sizeof(*facts->news);
		room = FACTS_FILE_BYTES - size;
		before = before < room ? before : room;
		memcpy(bytes + size, old + 1, before);
		kept_in->put(&process.name, bytes, size + before);
	}
	free(bytes);
	free(old);
}

void facts_end(struct facts *facts)
{
	if (facts->news_count > 0 && process.has_name) {
		write_file(facts);
	}
	free(facts->news);
}
