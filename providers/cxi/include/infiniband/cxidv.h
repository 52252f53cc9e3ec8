/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for HPE Slingshot Cassini NICs: the NIC's own resources under explicit ownership.
 *
 * Every resource hangs below a struct ibv_context of a Cassini device. Whoever creates a resource
 * destroys it; destroying one that another uses fails with EBUSY and changes nothing; closing the
 * device frees what is left, newest first. A verbs object that is built on a native resource borrows
 * it.
 *
 * Calls that make something return a pointer, or NULL and errno. Calls that return int return 0 or a
 * positive errno value, which errno holds too. Attribute structures have a comp_mask whose unknown bits
 * are refused with EINVAL; structures that a call fills take their size (inlen) and are filled as far
 * as that goes, comp_mask telling which optional members are there. All calls of this header may be
 * used from several threads at once on different resources, and on one resource but for its
 * destruction; the inline functions of command queues and event queues take no lock, one thread at a
 * time per queue.
 *
 * Parts of it are in headers of their own, which this one includes: two of its subjects,
 *   cxidv_svc.h     services, which say what a workload may use
 *   cxidv_bridge.h  verbs objects on native resources, and the way back
 * and the data path,
 *   cxidv_format.h  destination addresses, match ids, remote keys, list entries
 *   cxidv_cmdq.h    the ring of a command queue, the room in it, doorbells
 *   cxidv_emit.h    commands into command queues
 *   cxidv_trig.h    commands of counting events, and triggered ones
 *   cxidv_eq.h      events out of event queues; counting events
 */
#ifndef INFINIBAND_CXIDV_H
#define INFINIBAND_CXIDV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <ethernet/cassini_user_defs.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Device
 */

/* Access flag for ibv_reg_mr() and friends: place the region at a portal index of its own. */
#define CXIDV_ACCESS_INDEXED (1 << 29)

enum cxidv_window_flags {
	CXIDV_WINDOW_DOORBELL = 1 << 0,	   /* a store of the write pointer rings a command queue */
	CXIDV_WINDOW_LOW_LATENCY = 1 << 1, /* commands may also be stored into the launch page */
	CXIDV_WINDOW_CT = 1 << 2,	   /* counting events have a doorbell page */
	CXIDV_WINDOW_CSR = 1 << 3,	   /* the register space can be mapped */
};

struct cxidv_device_attr {
	uint64_t comp_mask;	 /* none is defined yet */
	uint32_t nid;		 /* 20 bits; 0xffffffff while none is assigned */
	uint32_t svc_id;	 /* that the context was opened on */
	uint32_t pid_bits;	 /* PIDs are 0 .. 2^pid_bits - 2 */
	uint32_t pid_granule;	 /* portal indices of one PID */
	uint32_t rdzv_get_index; /* portal index that rendezvous gets go to */
	uint32_t cassini_version;
	uint32_t window_flags; /* enum cxidv_window_flags: what the device offers at all */
	uint32_t max_inline;   /* bytes of payload in an immediate put or small message */
	uint32_t max_eq_reserve;
	uint32_t num_ptes;
	uint32_t num_txqs;
	uint32_t num_tgqs;
	uint32_t num_eqs;
	uint32_t num_cts;
	uint32_t num_acs;
	uint32_t num_les; /* per processing element */
	uint32_t num_tles;
	uint32_t min_free_shift;
	uint32_t pci_vendor_id;
	uint32_t pci_device_id;
	uint32_t link_mbps;  /* megabit per second, 0 without a link */
	uint32_t link_state; /* enum ibv_port_state of port 1 */
	uint64_t clock_hz;   /* of the time stamps in events */
};

/* True where the device is a Cassini NIC that this library drives. Needs no open device. */
bool cxidv_is_supported(struct ibv_device *device);

struct cxidv_open_attr {
	uint64_t comp_mask; /* none is defined yet */
	uint32_t svc_id;    /* the service that pays for what the context makes; 0: the default choice */
	uint32_t flags;	    /* none is defined yet */
};

/*
 * Opens a device on a chosen service; ibv_close_device() closes it. Needs no grant yet: the first call
 * that makes something is refused if the service does not admit the caller.
 * NULL and errno: EOPNOTSUPP not a Cassini NIC; EINVAL attr.
 */
struct ibv_context *cxidv_open_device(struct ibv_device *device,
				      const struct cxidv_open_attr *attr);

/* What the device has. EOPNOTSUPP not a Cassini context; EINVAL inlen too short; EIO device gone. */
int cxidv_query_device(struct ibv_context *context, struct cxidv_device_attr *attr, size_t inlen);

/* ------------------------------------------------------------------------------------------------
 * Logical NIs
 */

struct cxidv_lni {
	struct ibv_context *context;
	uint32_t svc_id;
	uint32_t rgid; /* its resource group, for reading traces and registers */
};

struct cxidv_lni_attr {
	uint64_t comp_mask; /* none is defined yet */
	uint32_t svc_id;    /* 0: the context's */
	uint32_t flags;	    /* none is defined yet */
};

/* NULL and errno: EINVAL no such service; EKEYREVOKED it is disabled; EPERM the caller is not a member;
 * ENOSPC no resource group is left. attr may be NULL. */
struct cxidv_lni *cxidv_create_lni(struct ibv_context *context, const struct cxidv_lni_attr *attr);
/* EBUSY while anything lives on it; EINVAL the context's own. */
int cxidv_destroy_lni(struct cxidv_lni *lni);
/* The logical NI that the context's verbs objects live on, made now if there is none yet. Borrowed: it
 * lives as long as the context. Refusals as for cxidv_create_lni(). */
struct cxidv_lni *cxidv_context_lni(struct ibv_context *context);

struct cxidv_lni_info {
	uint64_t comp_mask; /* none is defined yet */
	uint32_t svc_id;
	uint32_t rgid;
	uint32_t num_cps; /* communication profiles in use */
	uint32_t num_acs; /* address contexts in use */
};
int cxidv_query_lni(struct cxidv_lni *lni, struct cxidv_lni_info *info, size_t inlen);

/* ------------------------------------------------------------------------------------------------
 * Communication profiles
 */

enum cxidv_traffic_class {
	CXIDV_TC_DEDICATED_ACCESS,
	CXIDV_TC_LOW_LATENCY,
	CXIDV_TC_BULK_DATA,
	CXIDV_TC_BEST_EFFORT,
};

enum cxidv_traffic_class_type {
	CXIDV_TC_TYPE_DEFAULT,
	CXIDV_TC_TYPE_HRP, /* high-rate put */
	CXIDV_TC_TYPE_RESTRICTED,
	CXIDV_TC_TYPE_COLL_LEAF,
};

enum cxidv_cp_flags {
	CXIDV_CP_TRIGGERED = 1 << 0, /* LCID 0, the only one that triggered queues can use */
};

struct cxidv_cp_attr {
	uint64_t comp_mask; /* none is defined yet */
	uint32_t vni;
	uint32_t traffic_class;	     /* enum cxidv_traffic_class */
	uint32_t traffic_class_type; /* enum cxidv_traffic_class_type */
	uint32_t flags;		     /* enum cxidv_cp_flags */
};

struct cxidv_cp {
	struct cxidv_lni *lni;
	uint32_t vni;
	uint32_t traffic_class;
	uint32_t traffic_class_type;
	uint8_t lcid;
};

/* NULL and errno: EINVAL VNI 0, a class that the service or the fabric does not have; ENOENT the service
 * does not have the VNI; EPERM the caller is not admitted; ENOSPC no LCID is left, or LCID 0 holds
 * another profile. */
struct cxidv_cp *cxidv_alloc_cp(struct cxidv_lni *lni, const struct cxidv_cp_attr *attr);
/* EBUSY while a queue uses it. */
int cxidv_free_cp(struct cxidv_cp *cp);

/* ------------------------------------------------------------------------------------------------
 * Domains: a VNI and a PID
 */

struct cxidv_domain {
	struct cxidv_lni *lni;
	uint32_t vni;
	uint32_t pid;
};

/* Takes count PIDs in a row for the logical NI, from pid on (EEXIST: one of them is taken), or, with
 * C_PID_ANY, where there is room (ENOSPC). *first_pid is the first one; they are its own until it goes.
 * EINVAL a bad VNI, PID or count; ENOENT, EPERM as for cxidv_alloc_cp(). */
int cxidv_reserve_pids(struct cxidv_lni *lni, uint32_t vni, uint32_t pid, uint32_t count,
		       uint32_t *first_pid);
/* With C_PID_ANY the lowest PID that is free. NULL and errno: EEXIST taken, or reserved by another;
 * ENOSPC none is free; EINVAL, ENOENT, EPERM as above. */
struct cxidv_domain *cxidv_create_domain(struct cxidv_lni *lni, uint32_t vni, uint32_t pid);
/* EBUSY while a portal entry is mapped in it. */
int cxidv_destroy_domain(struct cxidv_domain *domain);

/* ------------------------------------------------------------------------------------------------
 * Memory descriptors
 */

enum cxidv_md_flags {
	CXIDV_MD_READ = 1 << 0,	 /* the NIC may read: source of puts, target of gets */
	CXIDV_MD_WRITE = 1 << 1, /* the NIC may write */
};

enum cxidv_md_mask {
	CXIDV_MD_MASK_DMABUF = 1 << 0,
};

struct cxidv_md_attr {
	uint64_t comp_mask; /* enum cxidv_md_mask */
	void *addr;	    /* NULL with a dma-buf */
	size_t length;
	uint32_t flags;	 /* enum cxidv_md_flags */
	int dmabuf_fd;	 /* with MASK_DMABUF; may be closed afterwards */
	uint64_t offset; /* in the dma-buf */
};

struct cxidv_md {
	struct cxidv_lni *lni;
	void *addr;
	size_t length;
	uint64_t iova; /* of the first byte, in address context lac */
	uint8_t lac;
};

/* NULL and errno: EINVAL length 0, it wraps, bad flags, a bad dma-buf or range of it; EFAULT memory that
 * is not mapped or not writable; ENOSPC no address context is left; EOPNOTSUPP the descriptor is of a
 * kind that the device cannot reach. */
struct cxidv_md *cxidv_map_md(struct cxidv_lni *lni, const struct cxidv_md_attr *attr);
/* What still uses its io addresses fails. */
int cxidv_unmap_md(struct cxidv_md *md);
/* The io address of a byte of the descriptor's memory. */
static inline uint64_t cxidv_md_iova(const struct cxidv_md *md, const void *addr)
{
	return md->iova + ((uintptr_t)addr - (uintptr_t)md->addr);
}

/* ------------------------------------------------------------------------------------------------
 * Event queues
 */

enum cxidv_eq_flags {
	CXIDV_EQ_INIT_LONG = 1 << 2,	      /* initiator events of 32 bytes, with time stamp */
	CXIDV_EQ_TGT_LONG = 1 << 3,	      /* target events of 64 bytes, with time stamp */
	CXIDV_EQ_DROP_STATUS_DISABLE = 1 << 4, /* no status write when an event is dropped */
	CXIDV_EQ_TIMESTAMP_EVENTS = 1 << 5,   /* a TIMESTAMP event every second */
	CXIDV_EQ_EC_DISABLE = 1 << 6,	      /* no combining of events in one slot */
};

struct cxidv_eq_attr {
	uint64_t comp_mask; /* none is defined yet */
	uint32_t flags;	    /* enum cxidv_eq_flags */
	uint32_t slots;	    /* of 64 bytes, two of which hold no events; rounded up to whole pages */
	uint32_t reserve;   /* slots that messages from the network cannot take */
	uint16_t status_base; /* per cent full at the first threshold for status write-back */
	uint16_t status_delta; /* per cent between thresholds */
	uint16_t status_count; /* 0: none */
	uint16_t reserved[3];  /* 0 */
	struct ibv_comp_channel *channel; /* NULL: none. It must carry no CQ's events */
	void *eq_context;		  /* of the program, as cxidv_get_eq_event() returns it */
};

struct cxidv_eq {
	struct cxidv_lni *lni;
	void *eq_context;
	struct ibv_comp_channel *channel;
	uint32_t eqn; /* the number that commands name */

	/* The fast path's own; read them, and leave their change to the inline functions. */
	uint32_t byte_size;
	uint8_t *ring; /* struct c_eq_status, then events from byte 64 on */
	uint32_t rd_offset;	  /* bytes: of the next event */
	uint32_t cleared_offset;  /* bytes: consumed from here to rd_offset, not yet acknowledged */
	volatile uint64_t *sw_state; /* struct c_ee_cfg_eq_sw_state */
	uint64_t sw_value;	  /* the last one stored, without rd_ptr */
	/* Notifications taken so far, changed by cxidv_get_eq_event() alone. Arming is a store of
	 * sw_state with event_int_disable 0 and (notified + 1) % 16 in its spare bits. */
	volatile uint32_t notified;
	uint32_t reserved;
};

/* NULL and errno: EINVAL flags, slots, reserve, thresholds, a channel of another context or of CQs;
 * ENOSPC the service's event queues are used up; ENOMEM. */
struct cxidv_eq *cxidv_create_eq(struct cxidv_lni *lni, const struct cxidv_eq_attr *attr);
/* EBUSY while a queue, portal entry or CQ uses it. Waits for cxidv_ack_eq_events(). */
int cxidv_destroy_eq(struct cxidv_eq *eq);
/*
 * Gives the queue another ring. Returns when the NIC has been told; what it wrote before is read first,
 * and the inline functions of cxidv_eq.h cross over by themselves. No reader may be active meanwhile.
 * EINVAL fewer slots than the reserve needs, or the last resize has not been crossed yet; EBUSY a CQ uses
 * it; ENOMEM.
 */
int cxidv_resize_eq(struct cxidv_eq *eq, uint32_t slots);
/* For cxidv_eq.h: crosses over to the new ring when EQ_SWITCH has been read. */
int cxidv_follow_eq_switch(struct cxidv_eq *eq);
/* Blocks until an armed event queue of the channel has an event (see cxidv_eq_arm()). 0, or errno as for
 * ibv_get_cq_event(); *eq is the queue. Each must be acknowledged. */
int cxidv_get_eq_event(struct ibv_comp_channel *channel, struct cxidv_eq **eq);
void cxidv_ack_eq_events(struct cxidv_eq *eq, unsigned int count);

/* The name of an enum c_event_type or c_return_code, as in "C_RC_NO_SPACE", else "unknown". */
const char *cxidv_event_type_str(uint32_t type);
const char *cxidv_return_code_str(uint32_t code);

/* ------------------------------------------------------------------------------------------------
 * Command queues
 */

enum cxidv_cmdq_flags {
	CXIDV_CMDQ_TRANSMIT = 1 << 0,  /* else a target queue */
	CXIDV_CMDQ_TRIGGERED = 1 << 1, /* a transmit queue for counting-event commands */
};

enum cxidv_cmdq_policy { /* when the NIC writes the read pointer back */
	CXIDV_CMDQ_POLICY_ALWAYS,
	CXIDV_CMDQ_POLICY_HIGH_FREQ_EMPTY, /* every 16 slots and when empty */
	CXIDV_CMDQ_POLICY_LOW_FREQ_EMPTY,  /* every 256 slots and when empty */
	CXIDV_CMDQ_POLICY_LOW_FREQ,	   /* every 256 slots; queues of more than 512 only */
};

struct cxidv_cmdq_attr {
	uint64_t comp_mask; /* none is defined yet */
	uint32_t flags;	    /* enum cxidv_cmdq_flags */
	uint32_t slots;	    /* of 64 bytes, rounded up to a power of two, at least 64 */
	uint32_t policy;    /* enum cxidv_cmdq_policy */
	uint32_t stat_pool; /* 0 .. 3: which statistics pool counts it */
	struct cxidv_cp *cp; /* transmit queues: where it starts; NULL for target queues */
	struct cxidv_eq *eq; /* for COMMAND_FAILURE events; NULL: none */
};

struct cxidv_cmdq {
	struct cxidv_lni *lni;
	uint32_t index; /* in COMMAND_FAILURE events: is_target << 10 | cq_id */
	uint32_t flags;
	uint32_t window_flags; /* enum cxidv_window_flags */

	/* The fast path's own, in units of 32 bytes; leave their change to the inline functions. */
	uint32_t size32;
	uint32_t wp32;	  /* behind the last command written */
	uint32_t hw_wp32; /* behind the last one that the NIC was told of */
	uint32_t rp32;	  /* what the NIC had fetched when it was last looked at */
	uint32_t reserved;
	uint8_t *ring;	  /* struct c_cq_status, then commands from slot 4 on */
	volatile struct c_cmdq *launch;
};

/* NULL and errno: EINVAL flags, policy (also one that the slots are too few for), pool, a CP or EQ of another
 * logical NI, a triggered queue on an LCID other than 0; EBUSY the EQ serves a CQ; E2BIG more than 65536
 * slots; ENOSPC the service's queues are used up; ENOMEM. */
struct cxidv_cmdq *cxidv_create_cmdq(struct cxidv_lni *lni, const struct cxidv_cmdq_attr *attr);
/* Stops the queue; commands that were not executed are lost. */
int cxidv_destroy_cmdq(struct cxidv_cmdq *cmdq);

/* ------------------------------------------------------------------------------------------------
 * Portal entries
 */

enum cxidv_pte_flags {
	CXIDV_PTE_MATCHING = 1 << 0,
	CXIDV_PTE_FLOW_CONTROL = 1 << 1,
	CXIDV_PTE_LONG_EVENTS = 1 << 2,
	CXIDV_PTE_EVENT_MATCH = 1 << 3,
	CXIDV_PTE_LOGICAL = 1 << 4,
	CXIDV_PTE_SPACE_CHECK = 1 << 5,
	CXIDV_PTE_LOSSLESS = 1 << 6,
	CXIDV_PTE_CLEAR_REMOTE_OFFSET = 1 << 7,
	CXIDV_PTE_RESTRICTED_LM = 1 << 8,
	CXIDV_PTE_ALIGN_LM = 1 << 9,
	CXIDV_PTE_SW_HW_STATE_CHANGE = 1 << 10,
	CXIDV_PTE_SIGNAL_INVALID = 1 << 11,
	CXIDV_PTE_SIGNAL_UNDERFLOW = 1 << 12,
	CXIDV_PTE_SIGNAL_OVERFLOW = 1 << 13,
	CXIDV_PTE_SIGNAL_INEXACT = 1 << 14,
};

struct cxidv_pte_attr {
	uint64_t comp_mask; /* none is defined yet */
	uint32_t flags;	    /* enum cxidv_pte_flags */
	uint32_t le_charge; /* list entries charged to the service now; 0: none */
	struct cxidv_eq *eq; /* for target events; NULL: none */
};

struct cxidv_pte {
	struct cxidv_lni *lni;
	struct cxidv_eq *eq;
	uint32_t ptn; /* the number that commands and events name */
	uint32_t flags;
};

/* A new entry is disabled: enable it with a SETSTATE command. NULL and errno: EINVAL flags, an EQ of
 * another logical NI; EBUSY the EQ serves a CQ; ENOSPC the service's portal entries or list entries are
 * used up. */
struct cxidv_pte *cxidv_create_pte(struct cxidv_lni *lni, const struct cxidv_pte_attr *attr);
/* EBUSY while it is mapped. Its list entries go with it, without events. */
int cxidv_destroy_pte(struct cxidv_pte *pte);

enum cxidv_map_flags {
	CXIDV_MAP_MULTICAST = 1 << 0, /* index is multicast id << 5 | index_ext */
};
/* EINVAL another logical NI, index outside the granule; ENOSPC the place is taken or the table full. */
int cxidv_map_pte(struct cxidv_pte *pte, struct cxidv_domain *domain, uint32_t index,
		  uint32_t flags);
/* EINVAL it is not mapped there. */
int cxidv_unmap_pte(struct cxidv_pte *pte, struct cxidv_domain *domain, uint32_t index,
		    uint32_t flags);

struct cxidv_pte_status {
	uint64_t comp_mask; /* none is defined yet */
	uint32_t state;	    /* enum c_ptlte_state */
	uint32_t drop_count;
	uint32_t les_reserved;
	uint32_t les_allocated;
	uint32_t les_max;
	uint32_t ule_count;	/* unexpected messages there are */
	uint32_t max_offsets;	/* in: room at offsets */
	uint32_t reserved;
	uint64_t *ule_offsets; /* in: where to write the remote offset of each, oldest first */
};
int cxidv_query_pte(struct cxidv_pte *pte, struct cxidv_pte_status *status, size_t inlen);
/* Cuts off what still uses an entry that was unlinked; returns when nothing does. list: enum c_ptl_list. */
int cxidv_invalidate_le(struct cxidv_pte *pte, uint32_t list, uint16_t buffer_id);
/* Disabled to software managed, at once. EAGAIN another drop count; EINVAL it is not disabled. */
int cxidv_transition_pte(struct cxidv_pte *pte, uint32_t drop_count);

/* ------------------------------------------------------------------------------------------------
 * Counting events
 */

struct cxidv_ct {
	struct cxidv_lni *lni;
	uint32_t ct; /* the number that commands name */
	uint32_t window_flags;
	volatile struct c_ct_writeback *writeback; /* NULL: none */
	volatile uint64_t *doorbell;		   /* NULL where there is no window */
};

/* writeback: 8 aligned bytes of the program that the NIC writes the value to when it is told to get the
 * counter, on failure, reset and when a trigger event fires; they must outlive the counter. NULL: none.
 * NULL and errno: EINVAL not aligned; EFAULT not writable; ENOSPC the service's counters are used up. */
struct cxidv_ct *cxidv_create_ct(struct cxidv_lni *lni, struct c_ct_writeback *writeback);
/* Waiting triggered operations are cancelled. */
int cxidv_destroy_ct(struct cxidv_ct *ct);
/* Through the kernel; cxidv_eq.h has the same through the doorbell where there is one.
 * EINVAL success beyond 2^48 - 1, failure beyond 127. */
int cxidv_set_ct(struct cxidv_ct *ct, uint64_t success, uint64_t failure);
int cxidv_inc_ct(struct cxidv_ct *ct, uint64_t success, uint64_t failure);
int cxidv_read_ct(struct cxidv_ct *ct, uint64_t *success, uint64_t *failure);
/* Waits until success has reached threshold or there is a failure: 0, and what the values are.
 * ETIMEDOUT after timeout_ns nanoseconds (UINT64_MAX: never); EINTR a signal came. */
int cxidv_wait_ct(struct cxidv_ct *ct, uint64_t threshold, uint64_t timeout_ns, uint64_t *success,
		  uint64_t *failure);

/* ------------------------------------------------------------------------------------------------
 * Registers
 */

struct cxidv_csr_info {
	const char *name; /* as in the tables: with c_, or c1_ or c2_ where one generation has it */
	uint32_t offset;  /* of its first instance */
	uint32_t size;	  /* bytes of one instance */
	uint32_t entries;
	uint32_t public_read; /* not 0: unprivileged callers may read it */
	uint32_t generations; /* bit 0: Cassini 1 has it, bit 1: Cassini 2 has it */
	uint32_t reserved;
};

/* By its name, in any case, with or without c_, c1_ or c2_; without, where c1_ and c2_ differ, the one that
 * lies first. NULL and errno ENOENT: there is none. The answer lives as long as the library. */
const struct cxidv_csr_info *cxidv_csr_by_name(const char *name);
/* The one that an offset lies in: of several names for one place the smallest. NULL and ENOENT. */
const struct cxidv_csr_info *cxidv_csr_by_offset(uint32_t offset);
/* Offset and length in bytes, multiples of 8, at most 65536 at once. EPERM not in the public set, or
 * written, without CAP_SYS_ADMIN; EINVAL misaligned, too long, nothing there; EACCES written and read-only;
 * EFAULT data. */
int cxidv_read_csr(struct ibv_context *context, uint32_t offset, void *data, size_t length);
int cxidv_write_csr(struct ibv_context *context, uint32_t offset, const void *data, size_t length);
/* Maps the register space, once per context, until the context closes or it is unmapped. EOPNOTSUPP the
 * device has no such window; EPERM without CAP_SYS_ADMIN; EBUSY mapped already. */
int cxidv_map_csr(struct ibv_context *context, volatile void **base, size_t *length);
/* EINVAL it is not mapped. */
int cxidv_unmap_csr(struct ibv_context *context);

#ifdef __cplusplus
}
#endif

#include <infiniband/cxidv_svc.h>
#include <infiniband/cxidv_bridge.h>
#include <infiniband/cxidv_format.h>
#include <infiniband/cxidv_cmdq.h>
#include <infiniband/cxidv_emit.h>
#include <infiniband/cxidv_trig.h>
#include <infiniband/cxidv_eq.h>

#endif /* INFINIBAND_CXIDV_H */
