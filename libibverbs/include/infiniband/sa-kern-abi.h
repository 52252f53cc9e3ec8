/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The kernel's path and service records by the names that programs know. */
#ifndef INFINIBAND_SA_KERN_ABI_H
#define INFINIBAND_SA_KERN_ABI_H

#include <linux/types.h>

#include <rdma/ib_user_sa.h>

#define ib_kern_path_rec ib_user_path_rec
#define ib_kern_service_rec ib_user_service_rec

#endif /* INFINIBAND_SA_KERN_ABI_H */
