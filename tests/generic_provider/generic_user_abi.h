/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the kernel's soft RoCE driver adds to the standard answers: where to map the queues that user
 * space would fill. This provider works no queue, so it asks for the answers and maps nothing.
 */
#ifndef GENERIC_USER_ABI_H
#define GENERIC_USER_ABI_H

#include <linux/types.h>

#define GENERIC_UVERBS_ABI_VERSION 2

struct generic_queue_place {
	__aligned_u64 offset;
	__u32 size;
	__u32 pad;
};

struct generic_create_cq_resp {
	struct generic_queue_place cq;
};

struct generic_create_qp_resp {
	struct generic_queue_place rq;
	struct generic_queue_place sq;
};

struct generic_create_ah_resp {
	__u32 ah_num;
	__u32 reserved;
};

#endif /* GENERIC_USER_ABI_H */
