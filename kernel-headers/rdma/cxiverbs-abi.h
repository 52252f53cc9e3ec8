/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR Linux-OpenIB */
/*
 * The user ABI of the Cassini verbs driver.
 *
 * A Cassini NIC is one uverbs device. Everything but the data path goes through the one ioctl of
 * uverbs (rdma_user_ioctl.h): the standard objects (context, PD, CQ, QP, MR, AH, job, job key) with
 * driver data of their own in the UHW attributes, and the driver's objects (SVC, LNI, CP, DOMAIN, MD,
 * EQ, CMDQ, PTE, CT, CSR, TELEM) in the driver's id space. The data path is memory: rings and
 * doorbells that the process maps with mmap() on the device descriptor.
 *
 * Rules of this file
 * - Fields are little endian, of fixed size, and aligned to their size; structures are multiples of 8
 *   bytes; there is no padding that has no name, no pointer but in an __aligned_u64.
 * - Reserved fields are written as zero. The driver answers EINVAL to a reserved input that is not, and
 *   to bits of a flag or mask word that it does not know.
 * - Structures grow at their end only. A longer input is accepted when the surplus is zero (else
 *   E2BIG); a shorter one counts as zero filled; of an output as much is written as the caller has
 *   room for. An input shorter than the first published size is EINVAL.
 * - CXI_ABI_VERSION is what the device's abi_version file shows. It changes only when an old library
 *   could no longer work; a library names the range it can speak in its match table.
 * - A mapping is named by a cookie: the offset to pass to mmap(), page aligned, with the length that
 *   stands beside it, MAP_SHARED. Cookies are valid for the descriptor that made the call, until the
 *   object is destroyed. Window flags say which doorbells exist; a library uses those and no other.
 *
 * Errors that every call shares, and that are not repeated below:
 *   EIO              the device is gone
 *   EPROTONOSUPPORT  an object, a method, or an attribute with UVERBS_ATTR_F_MANDATORY that is not
 *                    known; one without the flag is ignored
 *   EINVAL           an attribute that the method needs is missing, is there twice, or has a length that
 *                    it cannot have; a handle of another type; no context yet; a reserved field or flag
 *   EBADR            a resource of which the service has none at all: LIMITED, max 0 (else it is ENOSPC)
 *   ENOENT           a handle that names nothing
 *   EBADF            a descriptor that is no channel of this context
 *   E2BIG            a structure longer than known, or driver data of a call without, that is not zero
 *   EFAULT           a pointer that cannot be read or written
 *   ENOMEM
 * A call that is refused has changed nothing, unless its comment says so.
 *
 * Standard methods that are not described here are those of every uverbs device, without driver data.
 * The driver has: of DEVICE all queries and the write commands QUERY_DEVICE (and extended), QUERY_PORT,
 * ALLOC_PD, DEALLOC_PD, DESTROY_AH, REG_MR, DEREG_MR, CREATE_COMP_CHANNEL, QUERY_QP and MODIFY_QP (and
 * extended); PD, CQ, QP, AH, MR, COUNTERS, ASYNC_EVENT, COMP_CNTR, JOB and JKEY with the methods of
 * rdma/ib_user_ioctl_cmds.h. All other objects and write commands are not supported.
 *
 * This file has the driver data of the standard objects; rdma/cxiverbs-native-abi.h, which it includes,
 * has the driver's own objects, with rdma/cxiverbs-device-abi.h.
 */
#ifndef CXIVERBS_ABI_H
#define CXIVERBS_ABI_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

#define CXI_ABI_VERSION 1

/* Values the driver never hands out, or that mean "choose for me". */
#define CXI_ABI_HANDLE_NONE 0xffffffffu
#define CXI_ABI_NID_NONE 0xffffffffu /* no address has been assigned to the NIC yet */

/* The default service: what a context uses that asks for service 0. */
#define CXI_ABI_DEFAULT_SVC_ID 1

/* ------------------------------------------------------------------------------------------------
 * Which doorbells a mapping offers.
 */
enum cxi_abi_window_flags {
	CXI_ABI_WINDOW_DOORBELL = 1 << 0,    /* a 64-bit store of the write pointer rings the queue */
	CXI_ABI_WINDOW_LOW_LATENCY = 1 << 1, /* the low-latency windows of the launch page work */
	CXI_ABI_WINDOW_CT = 1 << 2,	     /* the counting event has a doorbell page */
	CXI_ABI_WINDOW_CSR = 1 << 3,	     /* the register space can be mapped */
};

/* ------------------------------------------------------------------------------------------------
 * DEVICE / GET_CONTEXT: UHW_IN (optional) and UHW_OUT. QUERY_CONTEXT: UHW_OUT, the same.
 *
 * Chooses the service that pays for everything this context makes. Nothing is made yet: the logical NI
 * is made by the first call that needs one, with these refusals, in this order: EINVAL (no such
 * service), EKEYREVOKED (it is disabled), EPERM (the caller is not a member), ENOSPC (no resource group
 * is left). Queries, GIDs, service calls, registers and telemetry work without one.
 *
 * Errors: EINVAL the descriptor has a context already.
 */
struct cxi_abi_get_context_req {
	__u32 svc_id; /* 0: the default service */
	__u32 reserved_20;
};

struct cxi_abi_get_context_resp {
	__u32 nid; /* 20 bits, or CXI_ABI_NID_NONE */
	__u32 svc_id;
	__u32 pid_bits;	   /* PIDs are 0 .. 2^pid_bits - 2 */
	__u32 pid_granule; /* portal indices that a PID owns */
	__u32 cassini_version;
	__u32 window_flags; /* enum cxi_abi_window_flags: what this device offers at all */
	__u32 max_inline;   /* bytes of payload in an immediate put or small message */
	__u32 max_eq_reserve; /* event slots that can be reserved on one event queue */
	__u32 num_ptes;
	__u32 num_txqs;
	__u32 num_tgqs;
	__u32 num_eqs;
	__u32 num_cts;
	__u32 num_acs;
	__u32 num_les; /* per processing element */
	__u32 num_tles;
	__u32 link_mbps; /* 0 without a link */
	__u32 min_free_shift;
	__u32 pci_vendor_id;
	__u32 pci_device_id;
	__aligned_u64 clock_hz; /* of the time stamps in events; they count nanoseconds of CLOCK_REALTIME */
	__aligned_u64 reserved_2c0[3];
};

/* ------------------------------------------------------------------------------------------------
 * PD / ALLOC (the write command ALLOC_PD): UHW_IN (optional).
 *
 * A PD is of one logical NI: its regions, job keys and queue pairs are made there. Without driver data
 * that is the context's own. A logical NI made by LNI CREATE is busy while a PD is of it.
 *
 * Errors: ENOENT no such logical NI; the refusals of the context's own; ENOSPC too many PDs.
 */
struct cxi_abi_alloc_pd_req {
	__u32 lni_handle; /* or CXI_ABI_HANDLE_NONE: the context's own */
	__u32 reserved_20;
};

/* ------------------------------------------------------------------------------------------------
 * CQ / CREATE: UHW_IN and UHW_OUT.
 *
 * A CQ is one event queue. The driver allocates the ring, slot 0 of which is struct c_eq_status, and
 * reserves min(16383, 2 * cqe + 64) slots that messages from the network cannot take; the rest of the
 * ring, at least cqe slots, is theirs. The ring has room for twice that reserve, or for 16383, which QP
 * CREATE raises it into. RESP_CQE returns cqe as asked.
 *
 * Instead, eq_handle names an event queue that EQ CREATE made. Its reserve is raised to the same number
 * if it is lower, and goes back when the CQ goes; records on its channel carry the CQ's user handle
 * meanwhile; unread ones of its own are taken out of the channel, and so are unread ones of the CQ when
 * it goes. Value and state of the software-state word stay as they are. The event queue is busy, and no
 * queue or portal entry of the program can be made on it, while the CQ lives.
 *
 * Errors: EINVAL cqe 0 or above 65536, a bad flag; the refusals of the logical NI; ENOSPC the
 * service's event queues are used up. On an event queue: ENOENT no such event queue or logical NI;
 * EBUSY something uses it, or a resize is under way; EINVAL it lacks one of eq_flags, is of another
 * logical NI than lni_handle, has another channel than the CQ (or one has none), or its ring has fewer
 * slots than the reserve, cqe and two.
 */
enum cxi_abi_eq_flags {
	CXI_ABI_EQ_INIT_LONG = 1 << 2,		 /* initiator events of 32 bytes, with time stamp */
	CXI_ABI_EQ_TGT_LONG = 1 << 3,		 /* target events of 64 bytes, with time stamp */
	CXI_ABI_EQ_DROP_STATUS_DISABLE = 1 << 4, /* no status write when an event is dropped */
	CXI_ABI_EQ_TIMESTAMP_EVENTS = 1 << 5,	 /* a TIMESTAMP event every second */
	CXI_ABI_EQ_EC_DISABLE = 1 << 6,		 /* no combining of events in one slot */
};

struct cxi_abi_create_cq_req {
	__u32 eq_flags;	 /* enum cxi_abi_eq_flags */
	__u32 eq_handle; /* build on this event queue, or CXI_ABI_HANDLE_NONE: make one */
	/* where to make it, or CXI_ABI_HANDLE_NONE: the context's own, the one of eq_handle */
	__u32 lni_handle;
	__u32 reserved_60;
};

struct cxi_abi_eq_info {
	__u32 handle;
	__u32 eqn;			/* the number that commands name */
	__aligned_u64 ring_cookie;	/* map readable and writable */
	__aligned_u64 ring_bytes;	/* slots of 64 bytes, the first one is the status */
	__aligned_u64 sw_state_cookie;	/* one page; struct c_ee_cfg_eq_sw_state at sw_state_offset */
	__u32 sw_state_offset;
	__u32 reserve; /* slots that network events cannot take */
};

struct cxi_abi_create_cq_resp {
	struct cxi_abi_eq_info eq;
};

/* Slots of a ring that hold no event: the status, and one that keeps it from filling up. */
#define CXI_ABI_EQ_FIXED_SLOTS 2

/*
 * RESIZE_CQ, the command of the write interface: UHW_IN (optional) and UHW_OUT. Gives the CQ room for cqe
 * completions, and its event queue a new ring: the fixed slots, cqe, and what is reserved now or asked for
 * here, whichever is more, rounded up to whole pages. What is reserved stays as it is. The NIC goes on in
 * the new ring, which the response describes, after an EQ_SWITCH event in the old one; when the program
 * has read that event, EQ RESIZE with slots 0 lets go of the old ring.
 *
 * Errors: EINVAL cqe 0 or above 65536, a reserve above 16383, a ring too small for messages that are under
 * way, a switch that has not ended; EOPNOTSUPP the CQ is built on an event queue of the program.
 */
struct cxi_abi_resize_cq_req {
	__u32 reserve;
	__u32 reserved_20;
};

struct cxi_abi_resize_cq_resp {
	struct cxi_abi_eq_info eq;
};

/*
 * MODIFY_CQ, the extended command: no driver data. With a moderation of `count` events and `period`
 * microseconds the record of an armed queue is held back until so many events have been written or the
 * period since the first of them has passed; what is raised by NOTIFY_AT, and by a QP that enters the error
 * state, is not held back. A count of 0 or 1 or a period of 0: no moderation.
 * Errors: EINVAL an empty mask; EOPNOTSUPP bits other than moderation.
 */

/*
 * Notification. A store of the software-state word with event_int_disable 0 arms the queue. When the
 * NIC has written an event it looks at the word; if it is armed and the value of its bits 44-47 is
 * another than at the last notification, the driver writes one record, the CQ's 64-bit user handle, to
 * the completion channel and remembers the value. So a library steps the value once per record that it
 * has taken from the channel, and a notification is neither lost nor given twice. An event on the
 * queue that serves a QP's sends notifies the CQ of its receives in the same way if that is armed, so
 * that a program asleep on either can carry on with repeats.
 */

/* ------------------------------------------------------------------------------------------------
 * QP / CREATE: UHW_IN and UHW_OUT. Type IBV_QPT_RU only; others EOPNOTSUPP.
 *
 * Makes, in the VNI of the job key (and, for an absolute QPN, in each VNI of the service's list, if it
 * has a list and not a range): the PID (that of SOURCE_QPN, else the PD's, else the lowest free one)
 * and its domain, the resource index (that of SOURCE_QPN, else the lowest free), a transmit and a
 * target command queue, the receive and the memory portal entry (mapped, enabled), and the slot
 * memory. The state is RTS. PIDs that are reserved for the PD's logical NI count as free when
 * SOURCE_QPN names them. The transmit queue starts on the job key's profile, or on the one that
 * cp_handle names, which is busy meanwhile. The parts have handles that are EBUSY on destroy; they go
 * with the queue pair.
 *
 * Errors: EINVAL a relative QPN without a job key, reserved bits in SOURCE_QPN, a PID other than the one
 * the PD has latched, semantics that the device does not offer, a size out of range, CQs, a job key or a
 * profile of another logical NI than the PD's, a profile of another VNI than the queue pair sends in;
 * EOPNOTSUPP another type, flags or attributes that the device does not know; ENOENT no such profile;
 * ENOSPC the PID belongs to another PD, the resource index is taken, list entries, queues or profiles are
 * used up; ENOMEM the event slots cannot be reserved: more than 16383, or more than the ring of a CQ has
 * beside its cqe slots (RESIZE_CQ makes room); EPERM the VNI is no longer granted.
 */
struct cxi_abi_create_qp_req {
	__u32 tx_slots;	       /* 64-byte command slots of the transmit queue, at least 64 */
	__u32 tgt_slots;       /* the same for the target queue */
	__u32 send_eq_reserve; /* event slots to add to the reserve of the send CQ's event queue */
	__u32 recv_eq_reserve; /* the same for the receive CQ's */
	__u32 slot_bytes;      /* bytes of one send slot's memory, 0 for none; a multiple of 64 */
	__u32 slot_count;
	__u32 recv_le_charge; /* list entries charged for receives: at most this many are posted */
	__u32 cp_handle;      /* the profile to start on, or CXI_ABI_HANDLE_NONE: that of the job key */
};

struct cxi_abi_cmdq_info {
	__u32 handle;
	__u32 index;		   /* as COMMAND_FAILURE events name it */
	__u32 slots;		   /* usable are slots 4 .. slots - 1; slot 0 holds struct c_cq_status */
	__u32 window_flags;	   /* enum cxi_abi_window_flags */
	__aligned_u64 ring_cookie; /* slots * 64 bytes, readable and writable */
	__aligned_u64 launch_cookie; /* one page, writable; struct c_cmdq at launch_offset */
	__u32 launch_offset;
	__u32 lcid; /* transmit queues: the profile commands start with */
};

struct cxi_abi_create_qp_resp {
	struct cxi_abi_cmdq_info txq;
	struct cxi_abi_cmdq_info tgq;
	__u32 recv_pte; /* portal entry numbers, as events and commands name them */
	__u32 mem_pte;
	__u32 pid;
	__u32 ri;
	__u32 vni; /* of the job key; of the service's first VNI without one */
	__u32 slot_lac;
	__aligned_u64 slot_cookie; /* slot_bytes * slot_count, readable and writable */
	__aligned_u64 slot_map_bytes;
	__aligned_u64 slot_iova; /* of its first byte in address context slot_lac */
	__u32 send_eq_reserve;	 /* what the event queues reserve now, as a whole */
	__u32 recv_eq_reserve;
};

/* ------------------------------------------------------------------------------------------------
 * MR / REG_MR: UHW_OUT (optional).
 *
 * RESP_LKEY64 is lac << 57 | iova_delta; RESP_LKEY is a number that only names the region.
 *
 * Memory of a dma-buf is named by FD and FD_OFFSET; the descriptor may be closed afterwards. A region
 * derived from one names the same file. The model also takes memory files (memfd).
 *
 * Errors beside those of the standard: EINVAL length 0, access bits that the device does not know, an
 * application key with bits 63-60 set, a job key of another PD, a derived region that is not inside its
 * parent or may more than it, a file of another kind or one that ends before the region does; EACCES the
 * file may not be written; EOPNOTSUPP on-demand paging; EFAULT memory that is not mapped, or not with
 * the rights that are asked for; ENOSPC no address context or key is left.
 */
struct cxi_abi_reg_mr_resp {
	__aligned_u64 iova_delta; /* io address = (address as in work requests + delta) mod 2^57 */
	__u32 lac;
	__u32 md_handle;
};

/*
 * REREG_MR, the command of the write interface: UHW_OUT. The region is as if it had been deregistered and
 * registered anew, under the same handle; a refusal changes nothing. Remote keys stay, unless the region
 * becomes indexed or ceases to be, or moves to another PD as an indexed one.
 * Errors: those of REG_MR; EINVAL no flag or an unknown one, a derived region that leaves its parent;
 * EBUSY it is attached, others are derived from it, or its descriptor is in use; EOPNOTSUPP memory of a
 * dma-buf.
 */
struct cxi_abi_rereg_mr_resp {
	struct cxi_abi_reg_mr_resp mr;
	__aligned_u64 rkey64;
};

/*
 * Remote keys. The driver allots them; they live in one VNI and name a region only through queue pairs
 * that it is attached to.
 *
 * 64 bits: 63 chosen by the driver, 62 immediate, 61 indexed, 60 atomic. Bits 62 and 60 are set by the
 * initiator for one operation, never handed out. With bit 63: bits 29-0 are a serial number, or of an
 * indexed region serial (25 bits) << 5 | (index - 96); the initiator of an indexed access puts the
 * resource index of the target in bits 35-30. Without bit 63: an application's own 60 bits.
 * 32 bits: bit 31 stands for bit 63, bit 30 for bit 61, the rest as it is. 0 where no such form exists.
 */
#define CXI_ABI_RKEY_DRIVER (1ull << 63)
#define CXI_ABI_RKEY_IMMEDIATE (1ull << 62)
#define CXI_ABI_RKEY_INDEXED (1ull << 61)
#define CXI_ABI_RKEY_ATOMIC (1ull << 60)
#define CXI_ABI_RKEY_USER_MASK ((1ull << 60) - 1)
#define CXI_ABI_RKEY_SERIAL_BITS 30
#define CXI_ABI_RKEY_INDEX_BITS 5
#define CXI_ABI_RKEY_RI_SHIFT 30
#define CXI_ABI_RKEY32_DRIVER (1u << 31)
#define CXI_ABI_RKEY32_INDEXED (1u << 30)

/* Access flag of REG_MR, in the optional range: place the region at a portal index of its own. */
#define CXI_ABI_ACCESS_INDEXED (1u << 29)

/* Portal indices of a PID. Indices at 128 and above take reads, those below writes and atomics. */
#define CXI_ABI_INDEX_RECV 0	       /* + resource index: receive entries */
#define CXI_ABI_INDEX_MEMORY 48	       /* + resource index: memory entries, writes and atomics */
#define CXI_ABI_INDEX_MEMORY_READ 176  /* + resource index: the same memory entries, reads */
#define CXI_ABI_INDEX_INDEXED 96       /* + 0 .. 30: indexed regions, writes and atomics */
#define CXI_ABI_INDEX_INDEXED_READ 224 /* + 0 .. 30: the same, reads */
#define CXI_ABI_NUM_RI 48
#define CXI_ABI_NUM_INDEXED 31

/*
 * QP / ATTACH_MR: UHW_OUT. The caller appends the entries whose buffer ids it gets (0: not needed) and
 * unlinks them before DETACH_MR, which cuts off what still uses them.
 * Errors: EINVAL another PD, or a region that is restricted to another job; EOPNOTSUPP a region
 * restricted to a job on an absolute queue pair, an indexed region on queue pairs with different
 * receive CQs; EEXIST it is attached already, or another region with its key is; ENOSPC list entries or portal entries are used up.
 * DETACH_MR: EINVAL it is not attached. Destroying the queue pair detaches; a region that is attached
 * is EBUSY.
 */
struct cxi_abi_attach_mr_resp {
	__u16 plain_buffer_id;
	__u16 immediate_buffer_id;
	__u16 atomic_buffer_id;
	__u16 reserved_30;
	__u32 pte; /* the memory entry, or the region's own for an indexed one */
	__u32 reserved_60;
};

/*
 * COMP_CNTR / CREATE: UHW_OUT (optional). A completion counter is a counting event of the context's
 * logical NI; commands and list entries name it. Values: successes up to 2^48 - 1, errors up to 127
 * (EINVAL beyond); the NIC counts successes, errors are what MODIFY sets and adds. QP ATTACH_COMP_CNTR
 * records what is counted and keeps the counter busy: EOPNOTSUPP a remote operation, EINVAL the queue
 * pair is of another logical NI, EBUSY it has a counter for the operation.
 */
struct cxi_abi_create_comp_cntr_resp {
	__u32 ct;
	__u32 reserved_20;
};

/* ------------------------------------------------------------------------------------------------
 * JOB / ALLOC and IMPORT: UHW_OUT (optional). The job id is the VNI.
 *
 * Errors: EINVAL an id of 0 or above 65535, a bad port, GID index or flag, more address entries than
 * the device has; EPERM neither the context's service nor that of a logical NI made in the context
 * grants the VNI to the caller (there is no exception for root); EEXIST this context has allocated the
 * job already (import may repeat); EBADF or EINVAL (import) a descriptor that is not an exported job;
 * DEALLOC: EBUSY while a job key refers to it. ADDR_INSERT, ADDR_REMOVE, ADDR_QUERY: ENOENT an index
 * beyond the table or, but for ADDR_INSERT, without an address; ADDR_INSERT also as AH_EX_CREATE.
 */
struct cxi_abi_job_resp {
	__aligned_u64 table_cookie; /* read-only mapping of the address table; 0 without one */
	__aligned_u64 table_bytes;
	__u32 entries; /* u64 each: QPN 31-0, NID 51-32, bit 63 valid */
	__u32 vni;
};

/*
 * JKEY / CREATE: UHW_OUT (optional). Takes a communication profile for the job's VNI and the first
 * traffic class of the service (best effort where it grants every class); profiles are shared by keys of
 * one VNI and live as long as the logical NI of the PD.
 * Errors: EPERM the service of the PD's logical NI does not grant the job's VNI to the caller; ENOSPC
 * 256 keys in this context, or no profile is left. DESTROY: EBUSY while a QP or MR uses it.
 */
struct cxi_abi_create_jkey_resp {
	__u32 lcid;
	__u32 vni;
	__u32 traffic_class;
	__u32 reserved_60;
};

/*
 * AH / AH_EX_CREATE: UHW_OUT. Finds the NID of the destination GID: the low 32 bits of a Slingshot GID,
 * the neighbour's for an address of the netdev.
 * Errors: EINVAL a bad port or GID index, no global route, a GID of another type than the source's;
 * ENETUNREACH no NID is known for the address; ENOSPC too many address handles.
 */
struct cxi_abi_create_ah_resp {
	__u32 nid;
	__u32 reserved_20;
};

/* ------------------------------------------------------------------------------------------------
 * The layout, asserted.
 */
#ifdef __cplusplus
#define CXI_ABI_ASSERT_SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes), #type)
#else
#define CXI_ABI_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
#endif

CXI_ABI_ASSERT_SIZE(cxi_abi_get_context_req, 8);
CXI_ABI_ASSERT_SIZE(cxi_abi_get_context_resp, 112);
CXI_ABI_ASSERT_SIZE(cxi_abi_alloc_pd_req, 8);
CXI_ABI_ASSERT_SIZE(cxi_abi_create_cq_req, 16);
CXI_ABI_ASSERT_SIZE(cxi_abi_eq_info, 40);
CXI_ABI_ASSERT_SIZE(cxi_abi_create_cq_resp, 40);
CXI_ABI_ASSERT_SIZE(cxi_abi_resize_cq_req, 8);
CXI_ABI_ASSERT_SIZE(cxi_abi_resize_cq_resp, 40);
CXI_ABI_ASSERT_SIZE(cxi_abi_create_qp_req, 32);
CXI_ABI_ASSERT_SIZE(cxi_abi_cmdq_info, 40);
CXI_ABI_ASSERT_SIZE(cxi_abi_create_qp_resp, 136);
CXI_ABI_ASSERT_SIZE(cxi_abi_reg_mr_resp, 16);
CXI_ABI_ASSERT_SIZE(cxi_abi_rereg_mr_resp, 24);
CXI_ABI_ASSERT_SIZE(cxi_abi_attach_mr_resp, 16);
CXI_ABI_ASSERT_SIZE(cxi_abi_create_comp_cntr_resp, 8);
CXI_ABI_ASSERT_SIZE(cxi_abi_job_resp, 24);
CXI_ABI_ASSERT_SIZE(cxi_abi_create_jkey_resp, 16);
CXI_ABI_ASSERT_SIZE(cxi_abi_create_ah_resp, 8);

#undef CXI_ABI_ASSERT_SIZE

#include <rdma/cxiverbs-native-abi.h>

#endif /* CXIVERBS_ABI_H */
