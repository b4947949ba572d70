/* SPDX-License-Identifier: MIT */
/* Images mounted in turn at one place of the tree; needs root, a free loop device and the tools. */
#ifndef TESTS_UNIT_MOUNT_FIXTURE_H
#define TESTS_UNIT_MOUNT_FIXTURE_H

#include "tests/unit/dependencies_fixture.h"

#include <linux/landlock.h>
#include <sys/xattr.h>

__attribute__((format(printf, 1, 2))) static inline bool shell(const char *format, ...)
{
	char command[4 * PATH_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	return system(command) == 0; /* NOLINT: the tests' own words */
}

/* Makes images 1 and 2 with mnt/a.h, equal except for the digit in it. Returns false, and prints why, if that is not
 * possible here. */
static inline bool put_images(const char *make)
{
	for (int i = 1; i <= 2; i++) {
		put_directory(in_tree("from%d", i));
		put_file(in_tree("from%d/a.h", i), i == 1 ? "int a = 1;" : "int a = 2;");
		if (!shell("touch -d @1000000000 %s/from%d/a.h %s/from%d && cd %s && from=from%d image=image%d && (%s) "
		           ">/dev/null 2>&1",
		           tree, i, tree, i, tree, i, i, make)) {
			skip_test("an image cannot be made here: %s", make);
			return false;
		}
	}
	put_directory(in_tree("mnt"));
	return true;
}

static inline bool mount_image(int i, const char *options)
{
	return shell("exec 2>/dev/null; mount -o loop,%s %s/image%d %s/mnt", options, tree, i, tree);
}

static inline bool unmount_image(void)
{
	return shell("exec 2>/dev/null; umount %s/mnt", tree);
}

static inline bool permit_reading(int ruleset, const char *directory)
{
	struct landlock_path_beneath_attr below = {LANDLOCK_ACCESS_FS_READ_FILE, open(directory, O_PATH | O_CLOEXEC)};

	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &below, 0) == 0;
}

/* Nothing may be read any more but what is in `directory` (NULL: none), and in /proc. */
static inline bool restrict_reading_but(const char *directory)
{
	struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE};
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);

	if (directory && !(permit_reading(ruleset, directory) && permit_reading(ruleset, "/proc"))) {
		return false;
	}
	return ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

static inline bool restrict_reading(void)
{
	return restrict_reading_but(NULL);
}

static inline bool become_nobody(void)
{
	return setgid(65533) == 0 && setuid(65533) == 0;
}

/* user::rw-, user:65533:---, group::r--, mask::r--, other::r-- */
static const struct {
	uint32_t version;
	struct {
		uint16_t tag, permissions;
		uint32_t id;
	} entry[5];
} refusing_list __attribute__((unused)) = {
    2, {{0x01, 6, UINT32_MAX}, {0x02, 0, 65533}, {0x04, 4, UINT32_MAX}, {0x10, 4, UINT32_MAX}, {0x20, 4, UINT32_MAX}}};

#define SQUASHFS "mksquashfs $from $image -noappend -all-time 1000000000 -mkfs-time 1000000000 -no-progress"
#define SMALL_EXT4                                                                                               \
	"truncate -s 4M $image; mkfs.ext4 -q -I 128 -U 11111111-1111-1111-1111-111111111111 -d $from $image && " \
	"debugfs -w -R 'set_inode_field a.h ctime @1000000000' $image"

#endif
