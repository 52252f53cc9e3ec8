/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Headers of messages that tag matching works on. */
#ifndef INFINIBAND_TM_TYPES_H
#define INFINIBAND_TM_TYPES_H

#include <linux/types.h>
#include <stdint.h>

enum ibv_tmh_op {
	IBV_TMH_NO_TAG,
	IBV_TMH_RNDV,
	IBV_TMH_FIN,
	IBV_TMH_EAGER,
};

/* The tag matching header. */
struct ibv_tmh {
	uint8_t opcode;
	uint8_t reserved[3];
	__be32 app_ctx;
	__be64 tag;
};

/* The rendezvous header. */
struct ibv_rvh {
	__be64 va;
	__be32 rkey;
	__be32 len;
};

#endif /* INFINIBAND_TM_TYPES_H */
