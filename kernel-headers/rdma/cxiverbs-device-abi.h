/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR Linux-OpenIB */
/*
 * The user ABI of the Cassini verbs driver: objects of the whole device, which live on no logical NI:
 * services, registers and counters. Include rdma/cxiverbs-abi.h; rdma/cxiverbs-native-abi.h says how
 * methods are described, and has the ids of objects and attributes.
 */
#ifndef CXIVERBS_DEVICE_ABI_H
#define CXIVERBS_DEVICE_ABI_H

#include <rdma/cxiverbs-abi.h>

/* ------------------------------------------------------------------------------------------------
 * SVC: what a workload may use. No logical NI is needed. A service whose owner descriptor is closed
 * while logical NIs live is dying: it gives no new one and goes with the last of them.
 *
 * ALLOC   HANDLE* (new), REQ* and RESP* struct cxi_abi_svc_desc. The service lives as long as the handle.
 *         EPERM   the caller has no CAP_SYS_ADMIN
 *         EINVAL  svc_id; flags: one unknown or only an answer; vnis: none, more than 4, 0 among the
 *                 first num_vnis, not 0 behind them; a range that is not two VNIs, lowest first, of an
 *                 aligned power of two; tc_mask: empty or unknown classes; a member type that is
 *                 unknown; a limit with max < reserved or max beyond the device
 *         EEXIST  a range that overlaps another service's range
 *         ENOSPC  a reservation cannot be made. RESP is written although the call is refused: it is
 *                 REQ with free filled in
 *         Without LIMITED the limits are checked and not applied. Triggered entries are not shared: of
 *         a LIMITED service their max and reserved become reserved, at least 8.
 * DESTROY HANDLE? or else REQ? struct cxi_abi_lni_req, which names any service. The handle of a service
 *         that was destroyed by REQ stays until it is destroyed too, which is no error.
 *         EINVAL  neither is given, (REQ) no such service
 *         EPERM   the caller has no CAP_SYS_ADMIN
 *         EINVAL  (REQ) the default service
 *         EBUSY   logical NIs live on it
 * MODIFY  REQ* and RESP* struct cxi_abi_svc_desc; svc_id names the service.
 *         EPERM   the caller has no CAP_SYS_ADMIN
 *         EINVAL  no such service, it is dying, or as for ALLOC
 *         EINVAL  LIMITED, or max or reserved of a LIMITED service, is not as QUERY answers it
 *         EEXIST  as for ALLOC
 *         EBUSY   more than ENABLED changes while logical NIs live
 * QUERY   REQ* struct cxi_abi_lni_req, RESP* struct cxi_abi_svc_desc.
 *         EINVAL  no such service
 *         EPERM   the caller is not a member and has no CAP_SYS_ADMIN
 * LIST    REQ? struct cxi_abi_lni_req, RESP*, an array of u32: the ids of the services that the caller may
 *         query, above the svc_id of REQ, ascending, as many as there is room for; the rest is cleared.
 *         EINVAL  reserved field
 */
enum cxi_abi_svc_methods {
	CXI_METHOD_SVC_ALLOC = (1U << UVERBS_ID_NS_SHIFT),
	CXI_METHOD_SVC_DESTROY,
	CXI_METHOD_SVC_MODIFY,
	CXI_METHOD_SVC_QUERY,
	CXI_METHOD_SVC_LIST,
};

enum cxi_abi_resource {
	CXI_ABI_RSRC_PTE,
	CXI_ABI_RSRC_TXQ,
	CXI_ABI_RSRC_TGQ,
	CXI_ABI_RSRC_EQ,
	CXI_ABI_RSRC_CT,
	CXI_ABI_RSRC_LE, /* per processing element */
	CXI_ABI_RSRC_TLE,
	CXI_ABI_RSRC_AC,
	CXI_ABI_RSRC_COUNT,
};

enum cxi_abi_member_type {
	CXI_ABI_MEMBER_NONE, /* nobody */
	CXI_ABI_MEMBER_UID,  /* compared with the effective user */
	CXI_ABI_MEMBER_GID,  /* compared with the effective group, not with supplementary ones */
	CXI_ABI_MEMBER_ANY,  /* everybody */
};

enum cxi_abi_traffic_class {
	CXI_ABI_TC_DEDICATED_ACCESS,
	CXI_ABI_TC_LOW_LATENCY,
	CXI_ABI_TC_BULK_DATA,
	CXI_ABI_TC_BEST_EFFORT,
};

enum cxi_abi_traffic_class_type {
	CXI_ABI_TC_TYPE_DEFAULT,
	CXI_ABI_TC_TYPE_HRP,
	CXI_ABI_TC_TYPE_RESTRICTED,
	CXI_ABI_TC_TYPE_COLL_LEAF,
};

#define CXI_ABI_MAX_SVC_MEMBERS 2
#define CXI_ABI_MAX_SVC_VNIS 4

enum cxi_abi_svc_flags {
	CXI_ABI_SVC_ENABLED = 1 << 0,
	CXI_ABI_SVC_LIMITED = 1 << 1,	/* limits[] applies; else every maximum is the device's */
	CXI_ABI_SVC_VNI_RANGE = 1 << 2, /* vnis[0] .. vnis[1] is a range */
	CXI_ABI_SVC_DYING = 1 << 3,	/* out: its owner is gone */
};

struct cxi_abi_svc_member {
	__u32 type; /* enum cxi_abi_member_type */
	__u32 id;
};

struct cxi_abi_svc_limit {
	__u32 max;
	__u32 reserved; /* of max, kept for this service even when it does not use it */
	__u32 in_use;	/* out; of the fullest processing element */
	__u32 free;	/* out: what the device has left beside other services' reservations */
};

struct cxi_abi_svc_desc {
	__u32 svc_id; /* out; MODIFY: which */
	__u32 flags;  /* enum cxi_abi_svc_flags */
	__u32 num_vnis;
	__u32 tc_mask; /* 1 << enum cxi_abi_traffic_class */
	__u16 vnis[CXI_ABI_MAX_SVC_VNIS];
	struct cxi_abi_svc_member members[CXI_ABI_MAX_SVC_MEMBERS];
	struct cxi_abi_svc_limit limits[CXI_ABI_RSRC_COUNT];
};

/* ------------------------------------------------------------------------------------------------
 * CSR: control and status registers, whole words of 64 bits by offset in the register aperture of
 * 0x28000000 bytes. The methods make no object and need no logical NI and no service.
 *
 * READ    REQ* struct cxi_abi_csr_req. Copies len bytes from offset on to data_ptr.
 *         EINVAL  offset or len is no multiple of 8, len is 0 or above CXI_ABI_CSR_MAX_LEN, the end is
 *                 beyond the aperture
 *         EPERM   a word is outside the public set and the caller has no CAP_SYS_ADMIN
 *         EINVAL  there is no register at a word
 *         EFAULT  data_ptr
 * WRITE   REQ* struct cxi_abi_csr_req. Copies len bytes from data_ptr, words in ascending order. Where
 *         software can change some bits of a word only, the others of a write are ignored.
 *         EINVAL  as for READ
 *         EPERM   the caller has no CAP_SYS_ADMIN
 *         EINVAL  there is no register at a word
 *         EACCES  a word has no bit that software can change
 *         EFAULT  data_ptr
 * MAP     RESP* struct cxi_abi_csr_map_resp. Maps the aperture where the context's window_flags have
 *         CXI_ABI_WINDOW_CSR. The cookie is valid as long as the descriptor: who has
 *         unmapped the aperture maps it again by the same one.
 *         EOPNOTSUPP  there is no such window
 *         EPERM       the caller has no CAP_SYS_ADMIN
 *         EBUSY       the descriptor has been given the cookie already
 *
 * The public set, which everybody may read: the revision (c_mb_sts_rev), the counter blocks, and every
 * register that a telemetry item is read from.
 */
enum cxi_abi_csr_methods {
	CXI_METHOD_CSR_READ = (1U << UVERBS_ID_NS_SHIFT),
	CXI_METHOD_CSR_WRITE,
	CXI_METHOD_CSR_MAP,
};

#define CXI_ABI_CSR_MAX_LEN 65536

struct cxi_abi_csr_req {
	__u32 offset;
	__u32 len;
	__aligned_u64 data_ptr; /* len bytes */
};

struct cxi_abi_csr_map_resp {
	__aligned_u64 cookie; /* readable and writable */
	__aligned_u64 bytes;
};

/* ------------------------------------------------------------------------------------------------
 * TELEM: counters by item number (enum c_telem_item of ethernet/cassini_cntr_defs.h). The method makes
 * no object and needs no logical NI, no service and no privilege.
 *
 * READ    REQ* struct cxi_abi_telem_req. Reads count items in their order, each at the moment that its
 *         time stamp tells. An item that cannot be read has a status and the value 0, and does not stop
 *         the others: EINVAL no item has this number, ENOENT this Cassini does not have it, EIO the
 *         register cannot be read.
 *         EINVAL  count is 0 or above CXI_ABI_TELEM_MAX_ITEMS, a reserved field
 *         EFAULT  items_ptr, results_ptr
 *
 * The standard counters object reads the same items. COUNTERS CREATE and DESTROY have no driver data; READ
 * with the attributes ITEMS (u32 each) and RESULTS (struct ib_uverbs_counter_result each) answers as above,
 * and writes the values to BUFF too, as far as it has room.
 *         EINVAL      one of the two without the other, no item, another number of results than of items
 *         EOPNOTSUPP  neither: there are no flows whose points could be counted
 */
#define CXI_ABI_TELEM_MAX_ITEMS 4096

enum cxi_abi_telem_methods {
	CXI_METHOD_TELEM_READ = (1U << UVERBS_ID_NS_SHIFT),
};

struct cxi_abi_telem_req {
	__aligned_u64 items_ptr;   /* count numbers, u32 each */
	__aligned_u64 results_ptr; /* room for count of struct cxi_abi_telem_result */
	__u32 count;
	__u32 reserved_a0;
};

struct cxi_abi_telem_result {
	__aligned_u64 value;
	__aligned_u64 timestamp_ns; /* CLOCK_REALTIME */
	__u32 item;
	__u32 status; /* 0 or an errno value */
};

/* ------------------------------------------------------------------------------------------------
 * The layout, asserted.
 */
#ifdef __cplusplus
#define CXI_ABI_ASSERT_SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes), #type)
#else
#define CXI_ABI_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
#endif

CXI_ABI_ASSERT_SIZE(cxi_abi_svc_member, 8);
CXI_ABI_ASSERT_SIZE(cxi_abi_svc_limit, 16);
CXI_ABI_ASSERT_SIZE(cxi_abi_svc_desc, 168);
CXI_ABI_ASSERT_SIZE(cxi_abi_csr_req, 16);
CXI_ABI_ASSERT_SIZE(cxi_abi_csr_map_resp, 16);
CXI_ABI_ASSERT_SIZE(cxi_abi_telem_req, 24);
CXI_ABI_ASSERT_SIZE(cxi_abi_telem_result, 24);

#undef CXI_ABI_ASSERT_SIZE

#endif /* CXIVERBS_DEVICE_ABI_H */
