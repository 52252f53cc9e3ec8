/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for Cassini NICs: verbs objects on native resources, and the native resources of verbs
 * objects. Include cxidv.h.
 */
#ifndef INFINIBAND_CXIDV_BRIDGE_H
#define INFINIBAND_CXIDV_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/cxidv.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Between verbs and native resources
 */

struct cxidv_pd_attr {
	uint64_t comp_mask; /* none is defined yet */
};
/* A protection domain on another logical NI than the context's own; attr may be NULL. Regions, job keys
 * and queue pairs of it live there. Goes with ibv_dealloc_pd(); the logical NI is busy meanwhile. */
struct ibv_pd *cxidv_create_pd(struct cxidv_lni *lni, const struct cxidv_pd_attr *attr);

struct cxidv_cq_attr {
	uint64_t comp_mask; /* none is defined yet */
	struct cxidv_lni *lni; /* where to make its event queue; NULL: the eq's, or the context's own */
	struct cxidv_eq *eq;   /* the event queue to use; NULL: make one */
};
/* A CQ on another logical NI, or on an event queue of the program, which leaves reading it and its
 * channel to the CQ until ibv_destroy_cq(). The event queue must be read to its end and serve nothing else
 * (EBUSY); its ring must have room for a CQ of attr->cqe, its events must be long where the CQ has time
 * stamps, and its channel must be attr->channel and serve no other queue (EINVAL). Its reserve is raised
 * meanwhile, and commands and events that are not the CQ's are refused there. */
struct ibv_cq_ex *cxidv_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr,
				  const struct cxidv_cq_attr *cxi_attr);

struct cxidv_qp_attr {
	uint64_t comp_mask; /* none is defined yet */
	struct cxidv_cp *cp; /* the profile its transmit queue starts on; NULL: that of the job key */
};
/* A reliable-unconnected queue pair that sends on a communication profile of the program: its VNI must be
 * that of the job key (EINVAL). PD and CQs must be of one logical NI (EINVAL). Requests that name no job key
 * or the queue pair's own use that profile, others that of the key they name. */
struct ibv_qp *cxidv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			       const struct cxidv_qp_attr *cxi_attr);

struct cxidv_pd_info {
	uint64_t comp_mask; /* none is defined yet */
	struct cxidv_lni *lni;
	uint32_t pid;	    /* C_PID_ANY: none latched yet */
	uint32_t reserved;
};
int cxidv_query_pd(struct ibv_pd *pd, struct cxidv_pd_info *info, size_t inlen);

struct cxidv_cq_info {
	uint64_t comp_mask; /* none is defined yet */
	struct cxidv_lni *lni;
	struct cxidv_eq *eq; /* NULL where the CQ made its own */
	uint32_t eqn;
	uint32_t slots; /* of its ring */
	uint32_t reserve;
	uint32_t flags; /* enum cxidv_eq_flags */
};
int cxidv_query_cq(struct ibv_cq *cq, struct cxidv_cq_info *info, size_t inlen);

struct cxidv_qp_info {
	uint64_t comp_mask; /* none is defined yet */
	struct cxidv_lni *lni;
	uint32_t vni;
	uint32_t pid;
	uint32_t ri; /* resource index: of its receive entry in the PID */
	uint32_t lcid;
	uint32_t txq; /* command queue numbers */
	uint32_t tgq;
	uint32_t recv_ptn; /* portal entry numbers */
	uint32_t memory_ptn;
	uint32_t send_eqn;
	uint32_t recv_eqn;
};
int cxidv_query_qp(struct ibv_qp *qp, struct cxidv_qp_info *info, size_t inlen);

struct cxidv_mr_info {
	uint64_t comp_mask; /* none is defined yet */
	struct cxidv_lni *lni;
	uint64_t iova; /* of the region's first byte, in address context lac */
	uint64_t length;
	uint32_t lac;
	uint32_t index; /* portal index of an indexed region, below 128; UINT32_MAX: a default one */
};
int cxidv_query_mr(struct ibv_mr *mr, struct cxidv_mr_info *info, size_t inlen);

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_CXIDV_BRIDGE_H */
