/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Entry point for programs that issue RDMA ioctls.
 */
#ifndef RDMA_USER_IOCTL_H
#define RDMA_USER_IOCTL_H

#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>



#endif /* RDMA_USER_IOCTL_H */
