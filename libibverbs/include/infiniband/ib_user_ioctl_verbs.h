/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * In the source tree the kernel's header stands in for the copy of it that is installed under this
 * name, so that programs do not depend on how old their system's kernel headers are.
 */
#include <rdma/ib_user_ioctl_verbs.h>
