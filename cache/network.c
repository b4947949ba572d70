/* SPDX-License-Identifier: MIT */
#include "cache/network.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/statfs.h>

/* The magic number of statfs(2) decides, because no system call reports whether locks are local. */
bool network_is(int fd)
{
	/* NFS, SMB, CIFS, SMB2, FUSE, Lustre, GPFS, AFS, kAFS, Coda, NCP, 9P, Ceph, OCFS2, GFS2, BeeGFS, PanFS,
	 * VirtualBox, OrangeFS, VMware, Parallels, StorNext, IBRIX, ACFS */
	static const uint32_t kinds[] = {
	    0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x65735546, 0x0bd00bd0, 0x47504653, 0x5346414f,
	    0x6b414653, 0x73757245, 0x564c,     0x01021997, 0x00c36400, 0x7461636f, 0x01161970, 0x19830326,
	    0xaad7aaea, 0x786f4256, 0x20030528, 0xbacbacbc, 0x7c7c6673, 0xbeefdead, 0x013111a8, 0x61636673,
	};
	struct statfs found;

	if (fstatfs(fd, &found) < 0) {
		return true;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if ((uint32_t)found.f_type == kinds[i]) {
			return true;
		}
	}
	return false;
}
