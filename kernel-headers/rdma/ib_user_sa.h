/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Path records in the form that the kernel takes them.
 */
#ifndef IB_USER_SA_H
#define IB_USER_SA_H

#include <linux/types.h>

enum {
	IB_PATH_GMP = 1,
	IB_PATH_PRIMARY = 1 << 1,
	IB_PATH_ALTERNATE = 1 << 2,
	IB_PATH_OUTBOUND = 1 << 3,
	IB_PATH_INBOUND = 1 << 4,
	IB_PATH_INBOUND_REVERSE = 1 << 5,
	IB_PATH_BIDIRECTIONAL = IB_PATH_OUTBOUND | IB_PATH_INBOUND_REVERSE,
};

struct ib_path_rec_data {
	__u32 flags;
	__u32 reserved;
	__u32 path_rec[16];
};

#endif /* IB_USER_SA_H */
