/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR Linux-OpenIB */
/*
 * The user ABI of the Cassini verbs driver: its own objects, with which a program uses the NIC itself.
 * Include rdma/cxiverbs-abi.h, whose rules and shared errors hold here too. Those that are of the whole
 * device and live on no logical NI, SVC, CSR and TELEM, are in rdma/cxiverbs-device-abi.h.
 *
 * Each method is described by
 *   its attributes: * mandatory, ? optional, "new" a handle that the method makes; REQ and RESP with
 *                   their structures. A method has these attributes and no others.
 *   its errors:     beside the shared ones, in the order in which a driver looks for them. A refused
 *                   call has changed nothing.
 *   what it leaves: for the next calls, and until when.
 *
 * Fields of a REQ that a method does not name are not looked at in the structures cxi_abi_svc_limit,
 * cxi_abi_pte_req and cxi_abi_ct_req, which serve several methods; everywhere else they must be zero.
 *
 * Ownership. Handles are per open descriptor; a handle of another type than the attribute's is EINVAL,
 * of another descriptor ENOENT. Destroying something that another object uses is EBUSY and changes
 * nothing. Parts that a verbs object has made for itself have handles too; destroying those is EBUSY.
 * Closing the descriptor frees what is left, newest first.
 */
#ifndef CXIVERBS_NATIVE_ABI_H
#define CXIVERBS_NATIVE_ABI_H

#include <rdma/cxiverbs-abi.h>

enum cxi_abi_objects {
	CXI_OBJECT_SVC = (1U << UVERBS_ID_NS_SHIFT),
	CXI_OBJECT_LNI,
	CXI_OBJECT_CP,
	CXI_OBJECT_DOMAIN,
	CXI_OBJECT_MD,
	CXI_OBJECT_EQ,
	CXI_OBJECT_CMDQ,
	CXI_OBJECT_PTE,
	CXI_OBJECT_CT,
	CXI_OBJECT_CSR,
	CXI_OBJECT_TELEM,
};

/* The ids are the same for all methods but EQ NOTIFY_AT. */
enum cxi_abi_native_attrs {
	CXI_ATTR_HANDLE = (1U << UVERBS_ID_NS_SHIFT), /* what the method makes, destroys, works on */
	CXI_ATTR_LNI_HANDLE,	/* the logical NI; absent: the context's own, made now if need be */
	CXI_ATTR_EQ_HANDLE,	/* absent: none */
	CXI_ATTR_CP_HANDLE,	/* absent: none */
	CXI_ATTR_PTE_HANDLE,	/* of no method */
	CXI_ATTR_DOMAIN_HANDLE,
	CXI_ATTR_MD_HANDLE,	/* of no method */
	CXI_ATTR_CHANNEL_FD,	/* descriptor of a completion channel; absent: none */
	CXI_ATTR_REQ,
	CXI_ATTR_RESP,
};

/*
 * "The refusals of the logical NI" below are, in this order: EINVAL no such service; EKEYREVOKED it is
 * disabled or dying; EPERM the caller is not a member; ENOSPC no resource group is left. Methods with
 * LNI_HANDLE have them when it is absent and the context's own logical NI has not been made yet.
 *
 * "The refusals of the VNI" are: EINVAL it is 0 or above 65535; ENOENT the service does not have it;
 * EPERM the caller is not a member of the service (any more).
 */

/* ------------------------------------------------------------------------------------------------
 * LNI: a logical NI, which owns one resource group and is charged to one service.
 *
 * CREATE  HANDLE* (new), REQ* struct cxi_abi_lni_req, RESP* struct cxi_abi_lni_resp.
 *         EINVAL  reserved field; then the refusals of the logical NI
 * DESTROY HANDLE*.
 *         EBUSY   anything lives on it
 * QUERY   HANDLE? (absent: the context's own, made now if need be), RESP* struct cxi_abi_lni_resp.
 *         the refusals of the logical NI, if HANDLE is absent
 */
enum cxi_abi_lni_methods {
	CXI_METHOD_LNI_CREATE = (1U << UVERBS_ID_NS_SHIFT),
	CXI_METHOD_LNI_DESTROY,
	CXI_METHOD_LNI_QUERY,
};

struct cxi_abi_lni_req {
	__u32 svc_id; /* LNI CREATE: 0 is the default service */
	__u32 reserved_20;
};

struct cxi_abi_lni_resp {
	__u32 svc_id;
	__u32 rgid;
	__u32 num_cps; /* communication profiles it has now, of 16 */
	__u32 num_acs; /* address contexts it uses now, of 8 */
};

/* ------------------------------------------------------------------------------------------------
 * CP: a communication profile, VNI and traffic class; commands name it by its LCID. Calls for the same
 * VNI, class and type on one logical NI share an LCID, which is free again with the last of them.
 *
 * ALLOC   HANDLE* (new), LNI_HANDLE?, REQ* struct cxi_abi_cp_req, RESP* struct cxi_abi_cp_resp.
 *         EINVAL  unknown flag
 *         the refusals of the logical NI; those of the VNI
 *         EINVAL  a class or type that the fabric or the service does not have
 *         ENOSPC  no LCID is left; TRIGGERED: LCID 0 stands for another profile
 * FREE    HANDLE*.
 *         EBUSY   a command queue uses it
 */
enum cxi_abi_cp_methods {
	CXI_METHOD_CP_ALLOC = (1U << UVERBS_ID_NS_SHIFT),
	CXI_METHOD_CP_FREE,
};

enum cxi_abi_cp_flags {
	CXI_ABI_CP_TRIGGERED = 1 << 0, /* LCID 0, the only one that triggered queues can use */
};

struct cxi_abi_cp_req {
	__u16 vni;
	__u16 flags;		  /* enum cxi_abi_cp_flags */
	__u16 traffic_class;	  /* enum cxi_abi_traffic_class */
	__u16 traffic_class_type; /* enum cxi_abi_traffic_class_type */
};

struct cxi_abi_cp_resp {
	__u32 lcid;
	__u32 reserved_20;
};

/* ------------------------------------------------------------------------------------------------
 * DOMAIN: a VNI and a PID, where portal entries are mapped. PIDs are 0 .. 2^pid_bits - 2.
 *
 * CREATE  HANDLE* (new), LNI_HANDLE?, REQ* struct cxi_abi_domain_req, RESP* struct cxi_abi_domain_resp.
 *         EINVAL  count or reserved field, pid neither a PID nor C_PID_ANY
 *         the refusals of the logical NI; those of the VNI
 *         ENOSPC  (C_PID_ANY) none is free
 *         EEXIST  the PID is taken, or reserved for another logical NI
 * DESTROY HANDLE*. A reserved PID stays reserved.
 *         EBUSY   a portal entry is mapped in it
 * RESERVE LNI_HANDLE?, REQ* struct cxi_abi_domain_req, RESP* struct cxi_abi_domain_resp. Takes count PIDs
 *         in a row, from pid on or wherever they are free (C_PID_ANY), for the logical NI until it goes;
 *         RESP names the first.
 *         EINVAL  reserved field, pid neither a PID nor C_PID_ANY, count 0 or above the number of PIDs
 *         the refusals of the logical NI; those of the VNI
 *         ENOSPC  (C_PID_ANY) no such row is free
 *         EEXIST  one of them is taken, reserved, or beyond the last PID
 */
enum cxi_abi_domain_methods {
	CXI_METHOD_DOMAIN_CREATE = (1U << UVERBS_ID_NS_SHIFT),
	CXI_METHOD_DOMAIN_DESTROY,
	CXI_METHOD_DOMAIN_RESERVE,
};

struct cxi_abi_domain_req {
	__u32 vni;
	__u32 pid;   /* CREATE with C_PID_ANY: the lowest that is free */
	__u32 count; /* RESERVE */
	__u32 reserved_60;
};

struct cxi_abi_domain_resp {
	__u32 vni;
	__u32 pid;
};

/* ------------------------------------------------------------------------------------------------
 * MD: a memory descriptor, which makes memory reachable for the NIC at an address of its own.
 *
 * MAP     HANDLE* (new), LNI_HANDLE?, REQ* struct cxi_abi_md_req, RESP* struct cxi_abi_md_resp.
 *         EINVAL      len 0, va + len wraps, no flag or an unknown one
 *         EBADF, EINVAL  dmabuf_fd is not -1 and names no dma-buf, or one that ends before va + len
 *         EACCES      the file may not be written, and flags say that the NIC will
 *         the refusals of the logical NI
 *         EFAULT      memory that is not mapped, or not with the rights that flags ask for
 *         ENOSPC      no address context, or no room in one, is left to the logical NI or the service
 * UNMAP   HANDLE*. The NIC reaches the memory no more; what it does then ends with an error.
 *         EBUSY       it is a memory region's
 */
enum cxi_abi_md_methods {
	CXI_METHOD_MD_MAP = (1U << UVERBS_ID_NS_SHIFT),
	CXI_METHOD_MD_UNMAP,
};

enum cxi_abi_md_flags {
	CXI_ABI_MD_READ = 1 << 0,  /* the NIC may read */
	CXI_ABI_MD_WRITE = 1 << 1, /* the NIC may write */
};

struct cxi_abi_md_req {
	__aligned_u64 va; /* with a dma-buf: offset in it */
	__aligned_u64 len;
	__u32 flags;
	__s32 dmabuf_fd; /* -1: memory of the caller */
};

struct cxi_abi_md_resp {
	__aligned_u64 iova; /* of va */
	__u32 lac;
	__u32 reserved_60;
};

/* ------------------------------------------------------------------------------------------------
 * EQ: an event queue. Notification is described in rdma/cxiverbs-abi.h; records carry user_handle.
 *
 * CREATE    HANDLE* (new), LNI_HANDLE?, CHANNEL_FD?, REQ* struct cxi_abi_eq_req, RESP* struct
 *           cxi_abi_eq_info. The ring is at least slots long and filled with zeros, the program has read
 *           nothing, and the queue is not armed. Cookies: ring and software state, until DESTROY.
 *           EBADF   CHANNEL_FD is no completion channel of this context
 *           EINVAL  reserved field, unknown flag; slots below 4 or above 2^26; reserve above
 *                   max_eq_reserve or slots - 1; status_count above 4, status_base or status_delta
 *                   above 100, or the last threshold, 100 - status_base + (status_count - 1) *
 *                   status_delta, above 100
 *           the refusals of the logical NI
 *           ENOSPC  the service's event queues are used up
 *           ENOMEM  no memory for the ring
 * DESTROY   HANDLE*, RESP? struct cxi_abi_eq_destroy_resp. Records that nobody has read are taken out of
 *           the channel.
 *           EBUSY   a command queue, portal entry or CQ uses it
 * RESIZE    HANDLE*, REQ* struct cxi_abi_eq_req with slots alone, RESP* struct cxi_abi_eq_info. Answers
 *           the new ring, into which the NIC switches after an EQ_SWITCH event in the old one; when the
 *           program has read that event, RESIZE with slots 0 lets go of the old ring, whose cookie ends.
 *           EINVAL  another field is not zero; slots below 4, above 2^26, or too few for what is
 *                   reserved and under way; a switch is under way, or (slots 0) none has happened
 *           EBUSY   a CQ reads it (RESIZE_CQ resizes that); not with slots 0
 *           ENOMEM  no memory for the ring
 * NOTIFY_AT EQ_NOTIFY_AT_HANDLE*, EQ_NOTIFY_AT_NS* (u64, CLOCK_MONOTONIC). Raises the notification at that
 *           time even if no event comes, as if one had been written then. One time per queue; a later
 *           call replaces it; 0 cancels it. The queue may be a CQ's.
 *           EINVAL  it has no completion channel
 */
enum cxi_abi_eq_methods {
	CXI_METHOD_EQ_CREATE = (1U << UVERBS_ID_NS_SHIFT),
	CXI_METHOD_EQ_DESTROY,
	CXI_METHOD_EQ_RESIZE,
	CXI_METHOD_EQ_NOTIFY_AT,
};

enum cxi_abi_eq_notify_at_attrs {
	CXI_ATTR_EQ_NOTIFY_AT_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	CXI_ATTR_EQ_NOTIFY_AT_NS,
};

struct cxi_abi_eq_req {
	__u32 flags; /* enum cxi_abi_eq_flags */
	__u32 slots; /* of 64 bytes, with the status and a guard */
	__u32 reserve; /* slots that network events cannot take */
	__u32 reserved_60;
	__u16 status_base; /* per cent full at the first threshold for status write-back */
	__u16 status_delta; /* per cent between thresholds */
	__u16 status_count;
	__u16 reserved_b0;
	__aligned_u64 user_handle; /* what a record on the channel carries */
};

struct cxi_abi_eq_destroy_resp {
	__u32 events_reported; /* records that the program has read from the channel */
	__u32 reserved_20;
};

/* ------------------------------------------------------------------------------------------------
 * CMDQ: a command queue. The ring starts with struct c_cq_status, rd_ptr 4, and takes commands from slot
 * 4 on; struct c_cmdq in the launch page has the write pointer that rings.
 *
 * CREATE  HANDLE* (new), LNI_HANDLE?, EQ_HANDLE? (for COMMAND_FAILURE events), CP_HANDLE? (transmit queues
 *         need it, target queues must not have it), REQ* struct cxi_abi_cmdq_req, RESP* struct
 *         cxi_abi_cmdq_info. The ring gets at least 64 slots and becomes a power of two of whole pages. Cookies: ring and
 *         launch page, until DESTROY.
 *         EINVAL  unknown flag, policy or stat_pool above 3
 *         E2BIG   slots above 65536
 *         the refusals of the logical NI
 *         EINVAL  a transmit queue without a profile, a target queue with one; TRIGGERED without
 *                 TRANSMIT; a profile or event queue of another logical NI; TRIGGERED on a profile whose
 *                 LCID is not 0
 *         EBUSY   the event queue serves a CQ
 *         ENOSPC  the service's queues of this kind are used up
 *         ENOMEM  no memory for the ring
 * DESTROY HANDLE*. Commands that have been fetched end, with an error if need be; others are dropped, and
 *         so are triggered operations that came through it.
 *         EBUSY   it is a queue pair's
 */
enum cxi_abi_cmdq_methods {
	CXI_METHOD_CMDQ_CREATE = (1U << UVERBS_ID_NS_SHIFT),
	CXI_METHOD_CMDQ_DESTROY,
};

enum cxi_abi_cmdq_flags {
	CXI_ABI_CMDQ_TRANSMIT = 1 << 0, /* else it is a target queue */
	CXI_ABI_CMDQ_TRIGGERED = 1 << 1,
};

struct cxi_abi_cmdq_req {
	__u32 flags; /* enum cxi_abi_cmdq_flags */
	__u32 slots;
	__u32 policy;	 /* when the status word is written: 0 always .. 3 rarely */
	__u32 stat_pool; /* which of the four sets of counters counts its commands */
};

/* ------------------------------------------------------------------------------------------------
 * PTE: a portal entry. Its events go to the event queue it is made on.
 *
 * CREATE        HANDLE* (new), LNI_HANDLE?, EQ_HANDLE?, REQ* struct cxi_abi_pte_req (flags, le_charge),
 *               RESP* struct cxi_abi_pte_resp (pte, state, les_reserved). The state is disabled.
 *               EINVAL  unknown flag, le_charge beyond a processing element
 *               the refusals of the logical NI
 *               EINVAL  an event queue of another logical NI
 *               EBUSY   the event queue serves a CQ
 *               ENOSPC  the service's portal entries or list entries are used up
 * DESTROY       HANDLE*. Entries of its lists go without events.
 *               EBUSY   it is mapped
 * MAP           HANDLE*, DOMAIN_HANDLE*, REQ* struct cxi_abi_pte_req (index, multicast). An entry may be
 *               mapped at many portal indices and at one multicast id.
 *               EINVAL  a domain of another logical NI; multicast above 1; index not below pid_granule,
 *                       or (multicast) 2^18; a second multicast id
 *               ENOSPC  an entry is mapped there, or the table is full
 * UNMAP         the same attributes.
 *               EINVAL  it is not mapped there
 * QUERY         HANDLE*, REQ* struct cxi_abi_pte_req (max_offsets, offsets_ptr), RESP* struct
 *               cxi_abi_pte_resp. Writes the remote offsets of the unexpected headers, oldest first, as
 *               many as there are and as there is room for.
 *               EFAULT  offsets_ptr
 * INVALIDATE_LE HANDLE*, REQ* struct cxi_abi_pte_req (buffer_id, list). Cuts off what still uses an entry
 *               that has been unlinked; the senders see C_RC_MST_CANCELLED. Nothing to cut off is no error.
 *               EINVAL  buffer_id above 65535, list above 2
 * TRANSITION    HANDLE*, REQ* struct cxi_abi_pte_req (drop_count). From disabled to software managed, at
 *               once; no error if it is there already.
 *               EINVAL  it is in another state
 *               EAGAIN  drop_count is not the entry's
 */
enum cxi_abi_pte_methods {
	CXI_METHOD_PTE_CREATE = (1U << UVERBS_ID_NS_SHIFT),
	CXI_METHOD_PTE_DESTROY,
	CXI_METHOD_PTE_MAP,
	CXI_METHOD_PTE_UNMAP,
	CXI_METHOD_PTE_QUERY,
	CXI_METHOD_PTE_INVALIDATE_LE,
	CXI_METHOD_PTE_TRANSITION,
};

enum cxi_abi_pte_flags {
	CXI_ABI_PTE_MATCHING = 1 << 0,
	CXI_ABI_PTE_FLOW_CONTROL = 1 << 1,
	CXI_ABI_PTE_LONG_EVENTS = 1 << 2,
	CXI_ABI_PTE_EVENT_MATCH = 1 << 3,
	CXI_ABI_PTE_LOGICAL = 1 << 4,
	CXI_ABI_PTE_SPACE_CHECK = 1 << 5,
	CXI_ABI_PTE_LOSSLESS = 1 << 6,
	CXI_ABI_PTE_CLEAR_REMOTE_OFFSET = 1 << 7,
	CXI_ABI_PTE_RESTRICTED_LM = 1 << 8,
	CXI_ABI_PTE_ALIGN_LM = 1 << 9,
	CXI_ABI_PTE_SW_HW_STATE_CHANGE = 1 << 10,
	CXI_ABI_PTE_SIGNAL_INVALID = 1 << 11,
	CXI_ABI_PTE_SIGNAL_UNDERFLOW = 1 << 12,
	CXI_ABI_PTE_SIGNAL_OVERFLOW = 1 << 13,
	CXI_ABI_PTE_SIGNAL_INEXACT = 1 << 14,
};

struct cxi_abi_pte_req {
	__u32 flags;	  /* CREATE; enum cxi_abi_pte_flags */
	__u32 index;	  /* MAP, UNMAP: portal index; multicast: index << 13 | id */
	__u32 multicast;  /* MAP, UNMAP: 1 for a multicast id */
	__u32 le_charge;  /* CREATE: list entries that the service is charged for */
	__u32 buffer_id;  /* INVALIDATE_LE */
	__u32 list;	  /* INVALIDATE_LE; enum c_ptl_list */
	__u32 drop_count; /* TRANSITION */
	__u32 max_offsets; /* QUERY: room at offsets_ptr */
	__aligned_u64 offsets_ptr; /* QUERY: u64 each */
};

struct cxi_abi_pte_resp {
	__u32 pte;   /* the number that commands and events name */
	__u32 state; /* enum c_ptlte_state */
	__u32 drop_count;
	__u32 les_reserved;  /* le_charge of CREATE */
	__u32 les_allocated; /* in use on its processing element, by everybody */
	__u32 les_max;
	__u32 ule_count; /* unexpected headers, also those that offsets_ptr had no room for */
	__u32 reserved_e0;
};

/* ------------------------------------------------------------------------------------------------
 * CT: a counting event. Successes up to 2^48 - 1 and failures up to 127. The doorbell page exists where
 * window_flags says so; SET, INC and READ work everywhere.
 *
 * CREATE  HANDLE* (new), LNI_HANDLE?, REQ* struct cxi_abi_ct_req (writeback_va; the others 0), RESP*
 *         struct cxi_abi_ct_resp. Cookie: the doorbell page, if there is one, until DESTROY.
 *         EINVAL  writeback_va is no multiple of 8, another field is not zero
 *         the refusals of the logical NI
 *         EFAULT  writeback_va is no memory that can be written
 *         ENOSPC  the service's counting events are used up
 * DESTROY HANDLE*. Triggered operations that wait for it are cancelled.
 * SET     HANDLE*, REQ* struct cxi_abi_ct_req (success, failure). Both become as given.
 *         EINVAL  a value beyond its maximum
 * INC     the same attributes and errors. Both are added.
 * READ    HANDLE*, RESP* struct cxi_abi_ct_resp.
 * WAIT    HANDLE*, REQ* struct cxi_abi_ct_req (success, timeout_ns), RESP* struct cxi_abi_ct_resp. Ends when
 *         success has been reached or there is a failure.
 *         EINVAL  success beyond its maximum
 *         EAGAIN  neither has happened. A driver may answer so at any time before timeout_ns; a library
 *                 comes back until its time is over
 *         EINTR   a signal came
 */
enum cxi_abi_ct_methods {
	CXI_METHOD_CT_CREATE = (1U << UVERBS_ID_NS_SHIFT),
	CXI_METHOD_CT_DESTROY,
	CXI_METHOD_CT_SET,
	CXI_METHOD_CT_INC,
	CXI_METHOD_CT_READ,
	CXI_METHOD_CT_WAIT,
};

struct cxi_abi_ct_req {
	__aligned_u64 writeback_va; /* CREATE: memory of the caller, 0 for none */
	__aligned_u64 success;
	__aligned_u64 failure;
	__aligned_u64 timeout_ns; /* WAIT */
};

struct cxi_abi_ct_resp {
	__u32 ct; /* the number that commands and list entries name */
	__u32 window_flags; /* enum cxi_abi_window_flags */
	__aligned_u64 doorbell_cookie;
	__aligned_u64 success;
	__aligned_u64 failure;
};

/* ------------------------------------------------------------------------------------------------
 * The layout, asserted.
 */
#ifdef __cplusplus
#define CXI_ABI_ASSERT_SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes), #type)
#else
#define CXI_ABI_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
#endif

CXI_ABI_ASSERT_SIZE(cxi_abi_lni_req, 8);
CXI_ABI_ASSERT_SIZE(cxi_abi_lni_resp, 16);
CXI_ABI_ASSERT_SIZE(cxi_abi_cp_req, 8);
CXI_ABI_ASSERT_SIZE(cxi_abi_cp_resp, 8);
CXI_ABI_ASSERT_SIZE(cxi_abi_domain_req, 16);
CXI_ABI_ASSERT_SIZE(cxi_abi_domain_resp, 8);
CXI_ABI_ASSERT_SIZE(cxi_abi_md_req, 24);
CXI_ABI_ASSERT_SIZE(cxi_abi_md_resp, 16);
CXI_ABI_ASSERT_SIZE(cxi_abi_eq_req, 32);
CXI_ABI_ASSERT_SIZE(cxi_abi_eq_destroy_resp, 8);
CXI_ABI_ASSERT_SIZE(cxi_abi_cmdq_req, 16);
CXI_ABI_ASSERT_SIZE(cxi_abi_pte_req, 40);
CXI_ABI_ASSERT_SIZE(cxi_abi_pte_resp, 32);
CXI_ABI_ASSERT_SIZE(cxi_abi_ct_req, 32);
CXI_ABI_ASSERT_SIZE(cxi_abi_ct_resp, 32);

#undef CXI_ABI_ASSERT_SIZE

#include <rdma/cxiverbs-device-abi.h>

#endif /* CXIVERBS_NATIVE_ABI_H */
