/* SPDX-License-Identifier: MIT */
/* facts: what one process has read of files, the next one need not read. */
#include "keygen/facts.h"
#include "tests/unit/mount_fixture.h"

#include <sched.h>

static unsigned writes;

static bool forks; /* while the file is read */
static int forked;

static int knows_what_it_learns(void);

static int read_file(const struct key *name, void *bytes, size_t room)
{
	if (forks) {
		forks = false;
		forked = in_child(knows_what_it_learns());
	}
	int file = open(in_tree("facts.%02x%02x", name->bytes[0], name->bytes[1]), O_RDONLY | O_CLOEXEC);
	int size = (int)read(file, bytes, room);

	close(file);
	return size;
}

static void write_file(const struct key *name, const void *bytes, size_t size)
{
	put_bytes(in_tree("facts.%02x%02x", name->bytes[0], name->bytes[1]), bytes, size);
	writes++;
}

static void facts_test_begin(void)
{
	static const struct facts_file file = {read_file, write_file};

	tree_begin();
	facts_keep_in(&file);
}

TestSuite(facts, .init = facts_test_begin, .fini = tree_end);

/* Leaves dependencies without learning anything: the header is as new as the compilation. */
static int leave_dependencies(void)
{
	trace.start_ns = 0;
	put_seen(in_tree("a.h"), "int a;");
	build();
	put_bytes(in_tree("dependencies"), built.bytes, built.size);
	return 0;
}

#define DOES_NOT_HOLD 255

static int check_dependencies(void)
{
	static uint8_t bytes[4096];
	int file = open(in_tree("dependencies"), O_RDONLY | O_CLOEXEC);
	ssize_t size = read(file, bytes, sizeof(bytes));

	close(file);
	stream_bytes(&built, bytes, (size_t)size);
	return bytes_read() & 255;
}

static bool reboot_as(const char *id)
{
	put_file(in_tree("boot_id"), id);
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount(in_tree("boot_id"), "/proc/sys/kernel/random/boot_id", NULL, MS_BIND, NULL) == 0;
}

static int check_after_another_boot(void)
{
	return reboot_as("00000000-0000-4000-8000-000000000000\n") ? check_dependencies() : 254;
}

/* Leaves dependencies and a file of facts. */
static void leave_facts(void)
{
	cr_assert_eq(in_child(leave_dependencies()), 0);
	usleep(50000); /* the header is settled */
	cr_assert_eq(in_child(check_dependencies()), 6);
	cr_assert_eq(in_child(check_dependencies()), 0);
}

/* The only file of facts. */
static const char *facts_path(void)
{
	static char path[PATH_MAX];
	FILE *list;

	cr_assert(shell("ls %s/facts.* >%s/list", tree, tree));
	list = fopen(in_tree("list"), "r");
	cr_assert(fgets(path, sizeof(path), list));
	(void)fclose(list);
	path[strcspn(path, "\n")] = '\0';
	return path;
}

Test(facts, what_one_process_has_read_the_next_one_does_not_read)
{
	leave_facts();
}

Test(facts, an_edited_file_is_read_in_spite_of_facts)
{
	leave_facts();
	put_file(in_tree("a.h"), "int b;");
	cr_expect_eq(in_child(check_dependencies()), DOES_NOT_HOLD);
}

Test(facts, a_file_of_facts_of_another_boot_is_not_used_under_this_boots_name)
{
	char path[PATH_MAX];
	int read;

	leave_facts();
	snprintf(path, sizeof(path), "%s", facts_path());
	cr_assert_eq(rename(path, in_tree("old")), 0);
	read = in_child(check_after_another_boot());
	skip_unless(read != 254, "nothing can be mounted over the boot id here");
	cr_assert_eq(rename(facts_path(), path), 0);
	cr_expect_eq(in_child(check_dependencies()), 6);
}

Test(facts, a_damaged_file_costs_reading_and_nothing_else)
{
	static const size_t places[] = {0, 15, 16, 47, 48, 56, 63};

	leave_facts();
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int file = open(facts_path(), O_RDWR | O_CLOEXEC);
		uint8_t byte;

		cr_assert_eq(pread(file, &byte, 1, (off_t)places[i]), 1);
		byte ^= 0x80;
		cr_assert_eq(pwrite(file, &byte, 1, (off_t)places[i]), 1);
		close(file);
		cr_expect_eq(in_child(check_dependencies()), 6, "byte %zu", places[i]);
		cr_expect_eq(in_child(check_dependencies()), 0, "written anew");
	}
	for (off_t size = 63; size > 0; size -= 21) {
		cr_assert_eq(truncate(facts_path(), size), 0);
		cr_expect_eq(in_child(check_dependencies()), 6, "%ld bytes", (long)size);
	}
}

enum visit { ASK, LEARN };

/* A check of a number of files, which need not exist. Returns how many are known. */
static unsigned visit(uint64_t first, unsigned count, enum visit what)
{
	struct facts facts;
	unsigned known = 0;

	facts_begin(&facts);
	for (uint64_t inode = first; inode < first + count; inode++) {
		const struct file_stamp stamp = {.inode = inode, .size = 1, .mode = S_IFREG};
		const struct facts_mount *mount;
		struct file_stamp found;
		uint64_t number;

		cr_assert_eq(stamp_look(AT_FDCWD, tree, &found, &number), 0);
		mount = facts_mount(&facts, tree, found.device, number);
		if (facts_know_content(&facts, &stamp, mount, (const uint8_t *)tree)) {
			known++;
		} else if (what == LEARN) {
			facts_learn(&facts, NULL, &stamp, mount, (const uint8_t *)tree);
		}
	}
	facts_end(&facts);
	return known;
}

static int learn_many(void)
{
	for (unsigned i = 0; i < 10; i++) {
		visit(1 + 1000 * i, 1000, LEARN);
	}
	return 0;
}

static int count_known(void)
{
	return visit(10000, 1, ASK) && !visit(1, 1, ASK) ? (int)(visit(1, 10000, ASK) / 100) : 0;
}

Test(facts, a_full_file_keeps_the_newest)
{
	struct stat found;

	cr_assert_eq(in_child(learn_many()), 0);
	cr_assert_eq(stat(facts_path(), &found), 0);
	cr_expect_eq(found.st_size, (off_t)FACTS_FILE_BYTES);
	cr_expect_geq(in_child(count_known()), 40, "percent of what a file has room for");
}

static int learn_too_many(void)
{
	visit(1, FACTS_FILE_MAX + 1, LEARN);
	return (int)writes;
}

Test(facts, of_more_files_than_there_is_room_for_facts_are_written)
{
	cr_expect_eq(in_child(learn_too_many()), 1);
}

static int knows_what_it_learns(void)
{
	visit(1, 1, LEARN);
	return visit(1, 1, ASK) == 1 ? 0 : 1;
}

Test(facts, a_child_that_is_forked_while_facts_are_read_has_facts)
{
	forks = true;
	forked = -1;
	visit(2, 1, LEARN);
	cr_expect_eq(forked, 0);
}

Test(facts, without_a_boot_id_there_is_no_file)
{
	expect_in_child(reboot_as(""), (visit(1, 1, LEARN), writes == 0));
}

Test(facts, of_a_ninth_mount_nothing_is_known)
{
	const struct file_stamp stamp = {.inode = 1, .size = 1, .mode = S_IFREG};
	const struct facts_mount *mount;
	struct facts facts;
	struct file_stamp found;
	uint64_t number;

	cr_assert_eq(stamp_look(AT_FDCWD, tree, &found, &number), 0);
	facts_begin(&facts);
	for (unsigned i = 1; i <= FACTS_MOUNTS_MAX; i++) {
		(void)facts_mount(&facts, tree, found.device, number + i);
	}
	mount = facts_mount(&facts, tree, found.device, number);
	cr_expect_eq(facts.mounts, FACTS_MOUNTS_MAX);
	cr_expect_not(facts_settled(&stamp, mount, INT64_MAX));
	facts_learn(&facts, NULL, &stamp, mount, (const uint8_t *)tree);
	cr_expect_not(facts_know_content(&facts, &stamp, mount, (const uint8_t *)tree));
	facts_end(&facts);
}

/* In a child, because nobody may not remove the tree. */
static int learn_as_nobody(void)
{
	if (!become_nobody()) {
		return 2;
	}
	visit(2, 1, LEARN);
	return writes == 1 && visit(2, 1, ASK) == 0 && visit(1, 1, ASK) == 1 ? 0 : 1;
}

Test(facts, after_a_change_of_user_nothing_is_learned)
{
	skip_unless(geteuid() == 0, "needs root, to become another user");
	visit(1, 1, LEARN);
	cr_expect_eq(writes, 1);
	cr_expect_eq(in_child(learn_as_nobody()), 0);
}
