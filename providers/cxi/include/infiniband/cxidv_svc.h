/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for Cassini NICs: services, the grants that workloads run under. Include cxidv.h.
 */
#ifndef INFINIBAND_CXIDV_SVC_H
#define INFINIBAND_CXIDV_SVC_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/cxidv.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Services: what a workload may use. All but queries need CAP_SYS_ADMIN.
 */

enum cxidv_resource {
	CXIDV_RSRC_PTE,
	CXIDV_RSRC_TXQ,
	CXIDV_RSRC_TGQ,
	CXIDV_RSRC_EQ,
	CXIDV_RSRC_CT,
	CXIDV_RSRC_LE, /* per processing element */
	CXIDV_RSRC_TLE,
	CXIDV_RSRC_AC,
	CXIDV_RSRC_COUNT,
};

enum cxidv_member_type {
	CXIDV_MEMBER_NONE,
	CXIDV_MEMBER_UID, /* compared with the effective user */
	CXIDV_MEMBER_GID, /* compared with the effective group */
	CXIDV_MEMBER_ANY,
};

enum cxidv_svc_flags {
	CXIDV_SVC_ENABLED = 1 << 0,
	CXIDV_SVC_LIMITED = 1 << 1,   /* limits[] applies; else every maximum is the device's */
	CXIDV_SVC_VNI_RANGE = 1 << 2, /* vnis[0] .. vnis[1] is an aligned power-of-two range */
	CXIDV_SVC_DYING = 1 << 3,     /* out: its owner is gone, it goes with its last logical NI */
};

#define CXIDV_MAX_SVC_MEMBERS 2
#define CXIDV_MAX_SVC_VNIS 4

struct cxidv_svc_member {
	uint32_t type; /* enum cxidv_member_type */
	uint32_t id;
};

struct cxidv_svc_limit {
	uint32_t max;
	uint32_t reserved; /* of max, kept for this service alone */
	uint32_t in_use;   /* out */
	uint32_t free;	   /* out: left on the device beside other services' reservations */
};

struct cxidv_svc_attr {
	uint64_t comp_mask; /* none is defined yet */
	uint32_t svc_id;    /* out */
	uint32_t flags;	    /* enum cxidv_svc_flags */
	uint32_t num_vnis;
	uint32_t tc_mask; /* 1 << enum cxidv_traffic_class */
	uint16_t vnis[CXIDV_MAX_SVC_VNIS];
	struct cxidv_svc_member members[CXIDV_MAX_SVC_MEMBERS];
	struct cxidv_svc_limit limits[CXIDV_RSRC_COUNT];
};

struct cxidv_svc {
	struct ibv_context *context;
	uint32_t svc_id;
};

/*
 * Makes a service and enables it as attr->flags says. attr->svc_id and the in_use and free members of
 * limits are filled, the latter also when ENOSPC refuses a reservation.
 * NULL and errno: EPERM not privileged; EINVAL more than 4 VNIs, VNI 0, a range that is not an aligned
 * power of two, max below reserved, a maximum beyond the device; EEXIST overlaps another range; ENOSPC.
 */
struct cxidv_svc *cxidv_alloc_svc(struct ibv_context *context, struct cxidv_svc_attr *attr);
/* EBUSY while a logical NI lives on it. */
int cxidv_destroy_svc(struct cxidv_svc *svc);
/* The same for any service of the device, by its id: for administrators. Its maker still has a struct
 * cxidv_svc to destroy. */
int cxidv_remove_svc(struct ibv_context *context, uint32_t svc_id);
/* Changes members, VNIs, classes and ENABLED. EBUSY for more than ENABLED while logical NIs live; EINVAL
 * another limit, no such service; EPERM not privileged. */
int cxidv_modify_svc(struct ibv_context *context, uint32_t svc_id,
		     const struct cxidv_svc_attr *attr);
/* EINVAL no such service; EPERM an unprivileged caller that is not a member. */
int cxidv_query_svc(struct ibv_context *context, uint32_t svc_id, struct cxidv_svc_attr *attr,
		    size_t inlen);
/* The ids of the services that the caller may query, ascending. *count: room, then how many there are;
 * ENOSPC where that is more than the room, of which every place is filled. */
int cxidv_list_svcs(struct ibv_context *context, uint32_t *svc_ids, size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_CXIDV_SVC_H */
