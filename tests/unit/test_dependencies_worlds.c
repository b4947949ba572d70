/* SPDX-License-Identifier: MIT */
/* Random worlds: images mounted in turn at one place with equal stamps, permissions, Landlock rules, other users,
 * facts that are learned. dependencies_hold() must agree with the naive model, which knows nothing. DEPENDENCIES_SEED and DEPENDENCIES_ROUNDS repeat or lengthen a run. */
#include "tests/unit/dependencies_model.h"
#include "tests/unit/mount_fixture.h"

static char images[PATH_MAX + 16]; /* of two file systems; "": none can be mounted here */
static bool is_mounted;
static unsigned remounts;
static unsigned repeats;
static unsigned askers[3];

static void unmount_any(void)
{
	if (is_mounted) {
		cr_assert(shell("umount %s/mnt", tree));
	}
	is_mounted = false;
}

static void mount_any(void)
{
	unmount_any();
	if (*images) {
		is_mounted = shell("mount -o loop,ro %s/image%u %s/mnt", images, 1 + pick(2), tree);
		cr_assert(is_mounted);
		remounts++;
	}
}

/* Makes two images with equal names and one different content, in a directory beside the tree. */
static void make_images(void)
{
	snprintf(images, sizeof(images), "%s.images", tree);
	if (!shell("exec >/dev/null 2>&1; mkdir -p %s/1 %s/2 && cd %s && for i in 1 2; do echo $i >$i/a.h && echo 0 "
	           ">$i/x && "
	           "touch -d @1000000000 $i/* $i && mksquashfs $i image$i -noappend -all-time 1000000000 -mkfs-time "
	           "1000000000 "
	           "-no-progress || exit 1; done; mkdir mnt && mount -o loop,ro image1 mnt && umount mnt",
	           images, images, images)) {
		cr_log_info("no squashfs here: no mounts among the worlds"); /* a warning would fail the run */
		remove_tree(images);
		images[0] = '\0';
	}
	directory_count = *images ? 9 : 7;
}

static void new_world(void)
{
	unmount_any();
	cr_assert_eq(chdir("/"), 0);
	remove_tree(tree);
	cr_assert_eq(mkdir(tree, 0755), 0);
	cr_assert_eq(chdir(tree), 0);
	put_directory("d");
	put_directory("d/e");
	put_directory("mnt");
	cr_assert_eq(symlink("d/e", "link"), 0);
	for (int i = 0; i < 12; i++) {
		edit();
	}
	if (access("mnt", F_OK) != 0) {
		put_directory("mnt");
	}
	mount_any();
	usleep(50000); /* settled */
}

static void permit(void)
{
	static const mode_t modes[] = {0, 0600, 0644, 0644};
	char path[64];
	struct stat found;

	any_path(path, sizeof(path));
	if (stat(path, &found) != 0 || !S_ISREG(found.st_mode)) {
		return;
	}
	if (pick(2) == 0 && setxattr(path, "system.posix_acl_access", &refusing_list, sizeof(refusing_list), 0) == 0) {
		return;
	}
	if (chmod(path, modes[pick(4)]) != 0) {
		errno = 0;
	}
}

/* What was just read and settled is not read again. */
static void repeat(void)
{
	int first = bytes_read();
	int second = bytes_read();

	cr_expect(second == -1 ? first == -1 : second <= first, "%d bytes, then %d", first, second);
	repeats++;
}

/* Returns the answer in bit 0 and the model's in bit 1. Asks as root, as nobody, or as a process that may read no
 * file. */
static int ask(unsigned asker, unsigned count)
{
	pid_t child = asker ? fork() : 0;

	askers[asker]++;
	if (child == 0) {
		bool changed = asker == 0 || (asker == 1 ? become_nobody() : restrict_reading());
		int answer = changed ? holds() | (model_holds(count) << 1) : 4;

		if (asker == 0) {
			return answer;
		}
		_exit(answer);
	}
	return exit_of(child);
}

static void worlds_begin(void)
{
	tree_begin();
	make_images();
}

static void worlds_end(void)
{
	if (is_mounted && shell("umount %s/mnt", tree)) {
		is_mounted = false;
	}
	if (*images) {
		remove_tree(images);
	}
	tree_end();
}

TestSuite(dependencies_worlds, .init = worlds_begin, .fini = worlds_end);

Test(dependencies_worlds, agree_with_the_naive_model, .timeout = 300)
{
	const char *seed = getenv("DEPENDENCIES_SEED");
	const char *rounds = getenv("DEPENDENCIES_ROUNDS");
	unsigned last = rounds ? (unsigned)atoi(rounds) : 40;
	unsigned held = 0;

	random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)now_ns();
	uint64_t first = random_state;
	for (unsigned round = 0; round < last; round++) {
		new_world();
		unsigned count = new_trace(round);

		build();
		for (int step = 0; step < 14; step++) {
			unsigned asker = geteuid() != 0 || pick(3) ? 0 : 1 + pick(2);
			int answer = ask(asker, count);

			held += answer == 3;
			cr_assert(answer == 0 || answer == 3 || answer == 4,
			          "DEPENDENCIES_SEED=%#llx round %u step %d asker %u: says %d, model says %d",
			          (unsigned long long)first, round, step, asker, answer & 1, answer >> 1);
			switch (pick(8)) {
			case 0:
				mount_any();
				break;
			case 1:
				permit();
				break;
			case 2:
			case 3:
			case 4:
				repeat();
				break;
			case 5:
				edit();
				break;
			default:
				break;
			}
		}
	}
	cr_log_info("%u held, %u mounts, %u repeats, asked %u, %u, %u times", held, remounts, repeats, askers[0],
	            askers[1], askers[2]);
	cr_assert(last < 40 || held > 20, "%u held", held);
}
