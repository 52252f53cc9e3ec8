/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What providers need to know about commands that can also be written to the device.
 */
#ifndef INFINIBAND_CMD_WRITE_H
#define INFINIBAND_CMD_WRITE_H

#include <errno.h>
#include <stdbool.h>

#include <infiniband/cmd_ioctl.h>
#include <infiniband/driver.h>
#include <infiniband/kern-abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is left to do after a command was tried as an ioctl. */
enum write_fallback { TRY_WRITE, TRY_WRITE_EX, ERROR, SUCCESS };

/* If the ioctl is not known, only the extended form of the command may be written. */
static inline void fallback_require_ex(struct ibv_command_buffer *cmdb)
{
	cmdb->fallback_require_ex = 1;
}

/* If the ioctl is not known, the command fails. */
static inline void fallback_require_ioctl(struct ibv_command_buffer *cmdb)
{
	cmdb->fallback_ioctl_only = 1;
}

/* Whether destroying objects of a device that is gone counts as success. */
extern bool verbs_allow_disassociate_destroy;

/*
 * Returns true if a function that destroys an object should end with *ret now, without waiting for
 * events: the kernel refused, or the device is gone and *ret has become 0.
 */
static inline bool verbs_is_destroy_err(int *ret)
{
	if (!*ret)
		return false;
	if (*ret == EIO && verbs_allow_disassociate_destroy)
		*ret = 0;
	return true;
}

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_CMD_WRITE_H */
