/* SPDX-License-Identifier: MIT */
/*
 * A mount is found by device and mount number. The device alone is not enough, because a file system can be mounted
 * twice.
 */
#include "keygen/dependencies_sights.h"

#include <string.h>

static bool is_recorded(const struct fixed_stamps *stamps, const struct mount *mount)
{
	for (uint32_t i = 0; stamps && i < stamps->mounts && i < MOUNTS_MAX; i++) {
		if (mount_same(&stamps->mount[i], mount)) {
			return true;
		}
	}
	return false;
}

/* Each mount is identified once, because that takes several system calls; a compilation's files are in one or two. */
struct sight *sights_see(struct sights *sights, const char *path, uint64_t device, uint64_t number)
{
	struct sight *sight;

	for (uint32_t i = 0; i < sights->count; i++) {
		if (sights->sight[i].mount.device == device && sights->sight[i].number == number) {
			return &sights->sight[i];
		}
	}
	if (sights->count == MOUNTS_MAX) {
		return NULL;
	}
	sight = &sights->sight[sights->count++];
	*sight = (struct sight){.number = number};
	mount_identify(path, device, number, &sight->mount);
	sight->recorded = sight->mount.kind != MOUNT_UNKNOWN && is_recorded(sights->recorded, &sight->mount);
	return sight;
}

const struct mount *sights_mount(struct sights *sights, const char *path, uint64_t device, uint64_t number)
{
	static const struct mount unknown = {.kind = MOUNT_UNKNOWN};
	const struct sight *sight = sights_see(sights, path, device, number);

	return sight ? &sight->mount : &unknown;
}

static void add_mount(struct fixed_stamps *stamps, const struct mount *mount)
{
	if (mount->kind != MOUNT_UNKNOWN && stamps->mounts < MOUNTS_MAX && !is_recorded(stamps, mount)) {
		stamps->mount[stamps->mounts++] = *mount;
	}
}

void sights_write(const struct sights *sights, struct fixed_stamps *ret_stamps)
{
	struct fixed_stamps stamps = {0};
	struct credentials credentials;

	if (sights->count > 0 && mount_boot(stamps.boot)) {
		credentials_look(&credentials);
		memcpy(stamps.who, credentials.who, sizeof(stamps.who));
		stamps.taken_ns = stamp_now();
		for (uint32_t i = 0; i < sights->count; i++) {
			add_mount(&stamps, &sights->sight[i].mount);
		}
	}
	*ret_stamps = stamps;
}

static bool has_changed(const struct sights *sights, uint64_t device)
{
	for (uint32_t i = 0; i < sights->count; i++) {
		if (sights->sight[i].mount.device == device && sights->sight[i].changed) {
			return true;
		}
	}
	return false;
}

void sights_renew(const struct sights *sights, const struct fixed_stamps *old, struct fixed_stamps *ret_stamps)
{
	struct fixed_stamps stamps;

	sights_write(sights, &stamps);
	if (memcmp(stamps.boot, old->boot, sizeof(stamps.boot)) == 0) {
		for (uint32_t i = 0; i < old->mounts && i < MOUNTS_MAX; i++) {
			if (!has_changed(sights, old->mount[i].device)) {
				add_mount(&stamps, &old->mount[i]);
			}
		}
	}
	*ret_stamps = stamps;
}
