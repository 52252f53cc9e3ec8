/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The verbs interface: talk to RDMA devices from user space.
 *
 * Device, context, protection domain, then memory regions, completion queues and queue pairs. The
 * manual pages of the functions tell all; the comments here are a reminder.
 */
#ifndef INFINIBAND_VERBS_H
#define INFINIBAND_VERBS_H

#include <infiniband/verbs_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the whole of an open device, NULL if a library before version 1.1.6 opened it. */
static inline struct verbs_context *verbs_get_ctx(struct ibv_context *ctx)
{
	if (ctx->abi_compat != __VERBS_ABI_IS_EXTENDED)
		return NULL;
	return (struct verbs_context *)((uintptr_t)ctx - offsetof(struct verbs_context, context));
}

/* For verbs_get_ctx_op(): returns the whole of ctx if its library has the operation at offset. */
static inline struct verbs_context *_verbs_get_ctx_at(struct ibv_context *ctx, size_t offset)
{
	struct verbs_context *vctx = verbs_get_ctx(ctx);
	void (*operation)(void);

	if (!vctx || vctx->sz < sizeof(*vctx) - offset)
		return NULL;
	memcpy(&operation, (const char *)vctx + offset, sizeof(operation));
	return operation ? vctx : NULL;
}

#define verbs_get_ctx_op(ctx, op) _verbs_get_ctx_at(ctx, offsetof(struct verbs_context, op))

/* Sets an operation of an open device if the library knows it. */
#define verbs_set_ctx_op(vctx, op, ptr)                                                            \
	do {                                                                                       \
		if ((vctx)->sz >= sizeof(*(vctx)) - offsetof(struct verbs_context, op))            \
			(vctx)->op = (ptr);                                                        \
	} while (0)

/* Devices. */

/*
 * Returns the devices as a NULL-terminated array, and their number in *num_devices unless that is
 * NULL. No device is no error. On failure NULL, errno set. Free it with ibv_free_device_list().
 */
struct ibv_device **ibv_get_device_list(int *num_devices);

#ifdef RDMA_STATIC_PROVIDERS
/*
 * For programs linked statically: a comma-separated list of at most 20 provider names (all, none,
 * or single ones) is registered before devices are looked for.
 */
struct verbs_device_ops;
extern const struct verbs_device_ops verbs_provider_all;
extern const struct verbs_device_ops verbs_provider_cxi;
extern const struct verbs_device_ops verbs_provider_none;

#define _IBV_STATIC(n) &verbs_provider_##n
#define _IBV_STATIC_LIST(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, ...)          \
	_IBV_STATIC(a), _IBV_STATIC(b), _IBV_STATIC(c), _IBV_STATIC(d), _IBV_STATIC(e),            \
		_IBV_STATIC(f), _IBV_STATIC(g), _IBV_STATIC(h), _IBV_STATIC(i), _IBV_STATIC(j),    \
		_IBV_STATIC(k), _IBV_STATIC(l), _IBV_STATIC(m), _IBV_STATIC(n), _IBV_STATIC(o),    \
		_IBV_STATIC(p), _IBV_STATIC(q), _IBV_STATIC(r), _IBV_STATIC(s), _IBV_STATIC(t)
#define _IBV_STATIC_EXPAND(...)                                                                    \
	_IBV_STATIC_LIST(__VA_ARGS__, none, none, none, none, none, none, none, none, none, none,  \
			 none, none, none, none, none, none, none, none, none, none)

/* Registers the listed providers; the list ends with NULL. */
void ibv_static_providers(void *unused, ...);

static inline struct ibv_device **__ibv_get_device_list(int *num_devices)
{
	ibv_static_providers(NULL, _IBV_STATIC_EXPAND(RDMA_STATIC_PROVIDERS), NULL);
	return ibv_get_device_list(num_devices);
}
#define ibv_get_device_list(num_devices) __ibv_get_device_list(num_devices)
#endif

/* Frees the array; devices that are open stay valid until their contexts are closed. */
void ibv_free_device_list(struct ibv_device **list);

/* Returns the kernel's name of the device. */
const char *ibv_get_device_name(struct ibv_device *device);

/* Returns the kernel's index of the device, -1 if it is not known. */
int ibv_get_device_index(struct ibv_device *device);

/* Returns the node GUID in network order, 0 if it cannot be read. */
__be64 ibv_get_device_guid(struct ibv_device *device);

/* Opens a device. NULL on failure, errno set. */
struct ibv_context *ibv_open_device(struct ibv_device *device);

/* Closes a context. What was made with it must have been destroyed. Returns 0. */
int ibv_close_device(struct ibv_context *context);

/*
 * Makes a context of a descriptor that another process opened and sent. The context owns it then.
 * NULL on failure, errno set.
 */
struct ibv_context *ibv_import_device(int cmd_fd);

/* Makes an object of this process for a protection domain of an imported context. NULL, errno. */
struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle);

/* Forgets an imported protection domain; the domain itself stays. */
void ibv_unimport_pd(struct ibv_pd *pd);

/* The same for a memory region. */
struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle);

/* Forgets an imported memory region; the region itself stays. */
void ibv_unimport_mr(struct ibv_mr *mr);

/* The same for device memory. */
struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t dm_handle);

/* Forgets imported device memory; the memory itself stays. */
void ibv_unimport_dm(struct ibv_dm *dm);

/*
 * Waits for an event of the context. Returns 0, or -1 and errno. Acknowledge each event with
 * ibv_ack_async_event(): destroying an object waits until its events are acknowledged.
 */
int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);

/* Acknowledges an event from ibv_get_async_event(). */
void ibv_ack_async_event(struct ibv_async_event *event);

/* Fills the basic attributes. Returns 0 or an errno value. */
int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr);

/*
 * Fills all attributes; those that library or kernel do not know are zero. Returns 0 or an errno
 * value.
 */
static inline int ibv_query_device_ex(struct ibv_context *context,
				      const struct ibv_query_device_ex_input *input,
				      struct ibv_device_attr_ex *attr)
{
	struct verbs_context *vctx;
	int ret;

	if (input && input->comp_mask)
		return EINVAL;
	vctx = verbs_get_ctx_op(context, query_device_ex);
	if (vctx) {
		ret = vctx->query_device_ex(context, input, attr, sizeof(*attr));
		if (ret != EOPNOTSUPP && ret != ENOSYS)
			return ret;
	}
	memset(attr, 0, sizeof(*attr));
	return ibv_query_device(context, &attr->orig_attr);
}

/*
 * The exported symbol fills the 48 bytes that the first programs knew; the macro below covers the
 * whole structure.
 */
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *port_attr);

/* Fills the attributes of a port. Returns 0 or an errno value. */
static inline int ___ibv_query_port(struct ibv_context *context, uint8_t port_num,
				    struct ibv_port_attr *port_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, query_port);

	if (vctx)
		return vctx->query_port(context, port_num, port_attr, sizeof(*port_attr));
	memset(port_attr, 0, sizeof(*port_attr));
	return ibv_query_port(context, port_num, (struct _compat_ibv_port_attr *)port_attr);
}

#define ibv_query_port(context, port_num, port_attr) \
	___ibv_query_port(context, port_num, port_attr)

/* Gives the effective speed of a port in units of 100 Mb/s. Returns 0 or an errno value. */
int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed);

/* Gives the GID at index; an empty place is all zero. Returns 0 or -1. */
int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid);

/* For ibv_query_gid_ex(), with the size of the entry as the caller was built. */
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size);

/*
 * Gives the entry at gid_index; flags must be 0. Returns 0 or an errno value, ENODATA for an empty
 * place.
 */
static inline int ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
				   uint32_t gid_index, struct ibv_gid_entry *entry, uint32_t flags)
{
	return _ibv_query_gid_ex(context, port_num, gid_index, entry, flags, sizeof(*entry));
}

/* For ibv_query_gid_table(), with the size of an entry as the caller was built. */
ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
			     size_t max_entries, uint32_t flags, size_t entry_size);

/* Gives all used entries of all ports. Returns their number, or a negated errno value. */
static inline ssize_t ibv_query_gid_table(struct ibv_context *context,
					  struct ibv_gid_entry *entries, size_t max_entries,
					  uint32_t flags)
{
	return _ibv_query_gid_table(context, entries, max_entries, flags, sizeof(*entries));
}

/* Gives the partition key at index in network order. Returns 0 or -1. */
int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey);

/* Returns the index of a partition key, -1 if the port does not have it. */
int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey);

/*
 * Reads what values->comp_mask asks for; on return it tells what is valid. Returns 0 or an errno
 * value.
 */
static inline int ibv_query_rt_values_ex(struct ibv_context *context, struct ibv_values_ex *values)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, query_rt_values);

	return vctx ? vctx->query_rt_values(context, values) : EOPNOTSUPP;
}

/* Protection domains, thread domains, parent domains. */

/* Makes a protection domain. NULL on failure, errno set. */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context);

/* Returns 0 or an errno value: a domain that is in use stays. */
int ibv_dealloc_pd(struct ibv_pd *pd);

/* Makes a thread domain. NULL on failure, errno set. */
static inline struct ibv_td *ibv_alloc_td(struct ibv_context *context,
					  struct ibv_td_init_attr *init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_td);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->alloc_td(context, init_attr);
}

/* Returns 0 or an errno value. */
static inline int ibv_dealloc_td(struct ibv_td *td)
{
	struct verbs_context *vctx = verbs_get_ctx_op(td->context, dealloc_td);

	return vctx ? vctx->dealloc_td(td) : EOPNOTSUPP;
}

/*
 * Makes a domain that adds a thread domain or allocators to a protection domain; release it with
 * ibv_dealloc_pd(). NULL on failure, errno set.
 */
static inline struct ibv_pd *ibv_alloc_parent_domain(struct ibv_context *context,
						     struct ibv_parent_domain_init_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_parent_domain);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->alloc_parent_domain(context, attr);
}

/* Opens an XRC domain. NULL on failure, errno set. */
static inline struct ibv_xrcd *ibv_open_xrcd(struct ibv_context *context,
					     struct ibv_xrcd_init_attr *xrcd_init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, open_xrcd);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->open_xrcd(context, xrcd_init_attr);
}

/* Returns 0 or an errno value. */
static inline int ibv_close_xrcd(struct ibv_xrcd *xrcd)
{
	struct verbs_context *vctx = verbs_get_ctx(xrcd->context);

	return vctx->close_xrcd(xrcd);
}

/* Memory regions. */

/*
 * For the macros below: registers memory with access bits that older kernels may not know. Bits of
 * the optional range that the kernel does not know are dropped.
 */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access);

/* Registers memory. NULL on failure, errno set. */
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);

static inline struct ibv_mr *__ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
					  unsigned int access, int is_access_const)
{
	if (is_access_const && !(access & IBV_ACCESS_OPTIONAL_RANGE))
		return ibv_reg_mr(pd, addr, length, (int)access);
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, access);
}

/* Old programs and those that need nothing new keep working with libraries before 1.8. */
#define ibv_reg_mr(pd, addr, length, access)                                                       \
	__ibv_reg_mr(pd, addr, length, access, __builtin_constant_p(access))

/* Registers memory under an address of the caller's choice. NULL on failure, errno set. */
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			       int access);

static inline struct ibv_mr *__ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
					       uint64_t iova, unsigned int access,
					       int is_access_const)
{
	if (is_access_const && !(access & IBV_ACCESS_OPTIONAL_RANGE))
		return ibv_reg_mr_iova(pd, addr, length, iova, (int)access);
	return ibv_reg_mr_iova2(pd, addr, length, iova, access);
}

#define ibv_reg_mr_iova(pd, addr, length, iova, access)                                            \
	__ibv_reg_mr_iova(pd, addr, length, iova, access, __builtin_constant_p(access))

/*
 * Registers what mr_init_attr describes: memory, a dma-buf, a part of a buffer, with DMA handle,
 * job restriction, own remote key or as derived region. NULL on failure, errno set.
 */
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr);

/* Registers a part of a dma-buf. NULL on failure, errno set. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access);

/*
 * Changes translation, domain or access of a region, as flags say. Returns 0 or an enum
 * ibv_rereg_mr_err_code.
 */
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access);

/* Returns 0 or an errno value. */
int ibv_dereg_mr(struct ibv_mr *mr);

/* Makes a region that swallows writes and reads as zeros. NULL on failure, errno set. */
static inline struct ibv_mr *ibv_alloc_null_mr(struct ibv_pd *pd)
{
	struct verbs_context *vctx = verbs_get_ctx_op(pd->context, alloc_null_mr);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->alloc_null_mr(pd);
}

/* Advises on the use of parts of regions, to prefetch pages. Returns 0 or an errno value. */
static inline int ibv_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
				struct ibv_sge *sg_list, uint32_t num_sge)
{
	struct verbs_context *vctx = verbs_get_ctx_op(pd->context, advise_mr);

	return vctx ? vctx->advise_mr(pd, advice, flags, sg_list, num_sge) : EOPNOTSUPP;
}

/*
 * Allocates memory that the device of pd can reach at all, also where programs' own memory is
 * encrypted. Returns its address and a handle for it; NULL on failure, errno set.
 */
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);

/* Frees such memory. */
void ibv_free_buf(struct ibv_buf *buf);

/* Registers a part of such memory. NULL on failure, errno set. */
struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length,
			      int access);

/*
 * Returns a new descriptor of the dma-buf behind the buffer; -1 and errno, ENODATA if there is
 * none.
 */
int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf);

/* Makes a DMA handle: hints on where data should land. NULL on failure, errno set. */
struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context, struct ibv_dmah_init_attr *attr);

/* Returns 0 or an errno value. */
int ibv_dealloc_dmah(struct ibv_dmah *dmah);

/* Allocates memory on the device. NULL on failure, errno set. */
static inline struct ibv_dm *ibv_alloc_dm(struct ibv_context *context,
					  struct ibv_alloc_dm_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_dm);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->alloc_dm(context, attr);
}

/* Returns 0 or an errno value. */
static inline int ibv_free_dm(struct ibv_dm *dm)
{
	struct verbs_context *vctx = verbs_get_ctx_op(dm->context, free_dm);

	return vctx ? vctx->free_dm(dm) : EOPNOTSUPP;
}

/* Returns a descriptor of a dma-buf for device memory; -1 on failure, errno set. */
int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm);

/* Copies to device memory. Returns 0 or an errno value. */
static inline int ibv_memcpy_to_dm(struct ibv_dm *dm, uint64_t dm_offset, const void *host_addr,
				   size_t length)
{
	return dm->memcpy_to_dm(dm, dm_offset, host_addr, length);
}

/* Copies from device memory. Returns 0 or an errno value. */
static inline int ibv_memcpy_from_dm(void *host_addr, struct ibv_dm *dm, uint64_t dm_offset,
				     size_t length)
{
	return dm->memcpy_from_dm(host_addr, dm, dm_offset, length);
}

/* Registers a part of device memory; its addresses start at zero. NULL on failure, errno set. */
static inline struct ibv_mr *ibv_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
					   size_t length, unsigned int access)
{
	struct verbs_context *vctx = verbs_get_ctx_op(pd->context, reg_dm_mr);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->reg_dm_mr(pd, dm, dm_offset, length, access);
}

/* Allocates a memory window. NULL on failure, errno set. */
static inline struct ibv_mw *ibv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	if (!pd->context->ops.alloc_mw) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return pd->context->ops.alloc_mw(pd, type);
}

/* Returns 0 or an errno value. */
static inline int ibv_dealloc_mw(struct ibv_mw *mw)
{
	return mw->context->ops.dealloc_mw(mw);
}

/* Returns rkey with its lowest 8 bits, the part that consumers choose, counted up. */
static inline uint32_t ibv_inc_rkey(uint32_t rkey)
{
	return (rkey & ~0xffU) | ((rkey + 1) & 0xffU);
}

/* Posts the binding of a window of type 1. Returns 0 or an errno value. */
static inline int ibv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind)
{
	const struct ibv_mw_bind_info *bind_info = &mw_bind->bind_info;

	if (mw->type != IBV_MW_TYPE_1)
		return EINVAL;
	if (!bind_info->mr && (bind_info->addr || bind_info->length))
		return EINVAL;
	if (bind_info->mr && bind_info->mr->pd != mw->pd)
		return EPERM;
	return mw->context->ops.bind_mw(qp, mw, mw_bind);
}

/* Completion channels and queues. */

/* Makes a channel. NULL on failure, errno set. */
struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context);

/* Returns 0 or an errno value, EBUSY while completion queues are attached. */
int ibv_destroy_comp_channel(struct ibv_comp_channel *channel);

/* Makes a completion queue with room for at least cqe entries. NULL on failure, errno set. */
struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector);

/* Makes a completion queue that is read entry by entry. NULL on failure, errno set. */
static inline struct ibv_cq_ex *ibv_create_cq_ex(struct ibv_context *context,
						 struct ibv_cq_init_attr_ex *cq_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_cq_ex);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_cq_ex(context, cq_attr);
}

/* Returns the same queue for functions that take a plain one. */
static inline struct ibv_cq *ibv_cq_ex_to_cq(struct ibv_cq_ex *cq)
{
	return (struct ibv_cq *)cq;
}

/* Changes the room of a queue. Returns 0 or an errno value. */
int ibv_resize_cq(struct ibv_cq *cq, int cqe);

/* Returns 0 or an errno value. Waits until all events of the queue are acknowledged. */
int ibv_destroy_cq(struct ibv_cq *cq);

/* Changes moderation. Returns 0 or an errno value. */
static inline int ibv_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(cq->context, modify_cq);

	return vctx ? vctx->modify_cq(cq, attr) : EOPNOTSUPP;
}

/*
 * Waits for an event of the channel. Returns 0, or -1 and errno. Acknowledge it with
 * ibv_ack_cq_events().
 */
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);

/* Acknowledges events of a queue. It takes a lock: better many events at once. */
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents);

/* Asks for one event with the next completion. Returns 0 or an errno value. */
static inline int ibv_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return cq->context->ops.req_notify_cq(cq, solicited_only);
}

/* Takes up to num_entries completions. Returns their number, negative on failure. */
static inline int ibv_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return cq->context->ops.poll_cq(cq, num_entries, wc);
}

/*
 * Starts reading and steps to the first completion. Returns 0, or an errno value, ENOENT if there
 * is none; only after 0 call ibv_end_poll().
 */
static inline int ibv_start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	return cq->start_poll(cq, attr);
}

/* Steps to the next completion. Returns 0, ENOENT if there is none, or another errno value. */
static inline int ibv_next_poll(struct ibv_cq_ex *cq)
{
	return cq->next_poll(cq);
}

/* Ends reading. */
static inline void ibv_end_poll(struct ibv_cq_ex *cq)
{
	cq->end_poll(cq);
}

/*
 * The current completion. All but opcode, vendor error and flags must have been asked for at
 * creation.
 */

static inline uint32_t ibv_wc_read_byte_len(struct ibv_cq_ex *cq)
{
	return cq->read_byte_len(cq);
}

/* In ticks of the device's clock. */
static inline uint64_t ibv_wc_read_completion_ts(struct ibv_cq_ex *cq)
{
	return cq->read_completion_ts(cq);
}

/* In nanoseconds of wall-clock time. */
static inline uint64_t ibv_wc_read_completion_wallclock_ns(struct ibv_cq_ex *cq)
{
	return cq->read_completion_wallclock_ns(cq);
}

static inline uint16_t ibv_wc_read_cvlan(struct ibv_cq_ex *cq)
{
	return cq->read_cvlan(cq);
}

static inline uint8_t ibv_wc_read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	return cq->read_dlid_path_bits(cq);
}

static inline uint32_t ibv_wc_read_flow_tag(struct ibv_cq_ex *cq)
{
	return cq->read_flow_tag(cq);
}

/* In network order. */
static inline __be32 ibv_wc_read_imm_data(struct ibv_cq_ex *cq)
{
	return cq->read_imm_data(cq);
}

/* The key that a send with invalidate took back. */
static inline uint32_t ibv_wc_read_invalidated_rkey(struct ibv_cq_ex *cq)
{
	return (uint32_t)cq->read_imm_data(cq);
}

static inline enum ibv_wc_opcode ibv_wc_read_opcode(struct ibv_cq_ex *cq)
{
	return cq->read_opcode(cq);
}

static inline uint32_t ibv_wc_read_qp_num(struct ibv_cq_ex *cq)
{
	return cq->read_qp_num(cq);
}

static inline uint8_t ibv_wc_read_sl(struct ibv_cq_ex *cq)
{
	return cq->read_sl(cq);
}

static inline uint32_t ibv_wc_read_slid(struct ibv_cq_ex *cq)
{
	return cq->read_slid(cq);
}

static inline uint32_t ibv_wc_read_src_qp(struct ibv_cq_ex *cq)
{
	return cq->read_src_qp(cq);
}

static inline void ibv_wc_read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *tm_info)
{
	cq->read_tm_info(cq, tm_info);
}

static inline uint32_t ibv_wc_read_vendor_err(struct ibv_cq_ex *cq)
{
	return cq->read_vendor_err(cq);
}

static inline unsigned int ibv_wc_read_wc_flags(struct ibv_cq_ex *cq)
{
	return cq->read_wc_flags(cq);
}

/* In network order; needs IBV_WC_EX_WITH_IMM64. */
static inline __be64 ibv_wc_read_imm64_data(struct ibv_cq_ex *cq)
{
	return cq->read_imm64_data(cq);
}

/* Needs IBV_WC_EX_WITH_JOB_ID. */
static inline uint32_t ibv_wc_read_job_id(struct ibv_cq_ex *cq)
{
	return cq->read_job_id(cq);
}

/* The source id of the sender; needs IBV_WC_EX_WITH_SRC_ID. */
static inline uint32_t ibv_wc_read_src_id(struct ibv_cq_ex *cq)
{
	return cq->read_src_id(cq);
}

/* Addresses. */

/* Makes an address handle. NULL on failure, errno set. */
struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);

/* Fills the attributes that reach the sender of a UD message. Returns 0, or -1 and errno. */
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
			struct ibv_grh *grh, struct ibv_ah_attr *ah_attr);

/* Makes an address handle for the sender of a UD message. NULL on failure, errno set. */
struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
				     uint8_t port_num);

/* Returns 0 or an errno value. Also for handles of ibv_create_ah_ex(). */
int ibv_destroy_ah(struct ibv_ah *ah);

/* Makes an address handle that names the remote queue pair too. NULL on failure, errno set. */
struct ibv_ah *ibv_create_ah_ex(struct ibv_pd *pd, struct ibv_ah_attr_ex *attr);

/* Returns the extended form of a handle that ibv_create_ah_ex() made. */
struct ibv_ah_ex *ibv_ah_to_ah_ex(struct ibv_ah *ah);

#define ETHERNET_LL_SIZE 6

/*
 * Finds the MAC address, and unless vid is NULL the VLAN, that reach attr->grh.dgid. Returns 0, or
 * a negative value.
 */
int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
				uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid);

#define IB_ROCE_UDP_ENCAP_VALID_PORT_MIN 0xC000
#define IB_ROCE_UDP_ENCAP_VALID_PORT_MAX 0xFFFF
#define IB_GRH_FLOWLABEL_MASK 0x000FFFFF

/* Returns the UDP source port that RoCE v2 uses for a flow label. */
static inline uint16_t ibv_flow_label_to_udp_sport(uint32_t fl)
{
	uint32_t low = fl & 0x03fff;
	uint32_t high = (fl & 0xfc000) >> 14;

	return (uint16_t)((low ^ high) | IB_ROCE_UDP_ENCAP_VALID_PORT_MIN);
}

/* Shared receive queues. */

/*
 * Makes a shared receive queue; attributes are updated to what it got. NULL on failure, errno set.
 */
struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *srq_init_attr);

/* Makes a shared receive queue of any type. NULL on failure, errno set. */
static inline struct ibv_srq *ibv_create_srq_ex(struct ibv_context *context,
						struct ibv_srq_init_attr_ex *srq_init_attr_ex)
{
	const uint32_t plain = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
	uint32_t mask = srq_init_attr_ex->comp_mask;
	struct verbs_context *vctx;

	if (!(mask & ~plain) && (mask & IBV_SRQ_INIT_ATTR_PD) &&
	    (!(mask & IBV_SRQ_INIT_ATTR_TYPE) || srq_init_attr_ex->srq_type == IBV_SRQT_BASIC))
		return ibv_create_srq(srq_init_attr_ex->pd,
				      (struct ibv_srq_init_attr *)srq_init_attr_ex);
	vctx = verbs_get_ctx_op(context, create_srq_ex);
	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_srq_ex(context, srq_init_attr_ex);
}

/* Changes size or limit. Returns 0 or an errno value. */
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask);

/* Returns 0 or an errno value. */
int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr);

/* Gives the number of an XRC shared receive queue. Returns 0 or an errno value. */
static inline int ibv_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num)
{
	struct verbs_context *vctx = verbs_get_ctx_op(srq->context, get_srq_num);

	return vctx ? vctx->get_srq_num(srq, srq_num) : EOPNOTSUPP;
}

/* Returns 0 or an errno value. Waits until all events of the queue are acknowledged. */
int ibv_destroy_srq(struct ibv_srq *srq);

/* Posts receives. Returns 0 or an errno value; *bad_recv_wr is the first that was not posted. */
static inline int ibv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *recv_wr,
				    struct ibv_recv_wr **bad_recv_wr)
{
	return srq->context->ops.post_srq_recv(srq, recv_wr, bad_recv_wr);
}

/* Posts tag matching operations. Returns 0 or an errno value; *bad_op is the first not posted. */
static inline int ibv_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op,
				   struct ibv_ops_wr **bad_op)
{
	struct verbs_context *vctx = verbs_get_ctx_op(srq->context, post_srq_ops);

	if (!vctx) {
		*bad_op = op;
		return EOPNOTSUPP;
	}
	return vctx->post_srq_ops(srq, op, bad_op);
}

/* Queue pairs. */

/* Makes a queue pair; qp_init_attr->cap is updated to what it got. NULL on failure, errno set. */
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr);

/* Makes a queue pair of any kind. NULL on failure, errno set. */
static inline struct ibv_qp *ibv_create_qp_ex(struct ibv_context *context,
					      struct ibv_qp_init_attr_ex *qp_init_attr_ex)
{
	struct verbs_context *vctx;

	if (qp_init_attr_ex->comp_mask == IBV_QP_INIT_ATTR_PD)
		return ibv_create_qp(qp_init_attr_ex->pd,
				     (struct ibv_qp_init_attr *)qp_init_attr_ex);
	vctx = verbs_get_ctx_op(context, create_qp_ex);
	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_qp_ex(context, qp_init_attr_ex);
}

/* Returns the form that builds requests by calls; NULL if the queue pair was not made for it. */
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp);

/* Opens a shared XRC target queue pair. NULL on failure, errno set. */
static inline struct ibv_qp *ibv_open_qp(struct ibv_context *context,
					 struct ibv_qp_open_attr *qp_open_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, open_qp);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->open_qp(context, qp_open_attr);
}

/* Changes what attr_mask says. Returns 0 or an errno value; then nothing has changed. */
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);

/* Changes pacing. Returns 0 or an errno value. */
static inline int ibv_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(qp->context, modify_qp_rate_limit);

	return vctx ? vctx->modify_qp_rate_limit(qp, attr) : EOPNOTSUPP;
}

/* Returns 0 or an errno value. More members than attr_mask names may be filled. */
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr);

/*
 * Tells whether data of op arrives in order. Returns 0 or 1, or with the flag for it a set of enum
 * ibv_query_qp_data_in_order_caps.
 */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);

/* Returns 0 or an errno value. Waits until all events of the queue pair are acknowledged. */
int ibv_destroy_qp(struct ibv_qp *qp);

/* Sets connection establishment options before the queue pair is connected. 0 or an errno value. */
int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);

/* Gives the options in force. Returns 0 or an errno value. */
int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);

/* Joins a multicast group. Returns 0 or an errno value. */
int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

/* Leaves a multicast group. Returns 0 or an errno value. */
int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

/* Returns 1 if the bit of a queue pair type is set in caps, else 0. */
static inline int ibv_is_qpt_supported(uint32_t caps, enum ibv_qp_type qpt)
{
	return !!(caps & (1U << qpt));
}

/* Posts sends. Returns 0 or an errno value; *bad_wr is the first that was not posted. */
static inline int ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
				struct ibv_send_wr **bad_wr)
{
	return qp->context->ops.post_send(qp, wr, bad_wr);
}

/* Posts receives. Returns 0 or an errno value; *bad_wr is the first that was not posted. */
static inline int ibv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
				struct ibv_recv_wr **bad_wr)
{
	return qp->context->ops.post_recv(qp, wr, bad_wr);
}

/*
 * Posts receives with 64-bit local keys. Returns 0 or an errno value; *bad_recv_wr is the first
 * that was not posted, and is left alone with EOPNOTSUPP.
 */
static inline int ibv_post_recv64(struct ibv_qp *qp, struct ibv_recv_wr64 *recv_wr,
				  struct ibv_recv_wr64 **bad_recv_wr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(qp->context, post_recv64);

	return vctx ? vctx->post_recv64(qp, recv_wr, bad_recv_wr) : EOPNOTSUPP;
}

/*
 * Building requests: between ibv_wr_start() and ibv_wr_complete() call one builder per request,
 * then its setters. wr_id and wr_flags are taken from the queue pair when the builder is called.
 */

/* Starts building; a lock may be held from here to the end. */
static inline void ibv_wr_start(struct ibv_qp_ex *qp)
{
	qp->wr_start(qp);
}

/* Posts all that was built. Returns 0 or an errno value; then nothing was posted. */
static inline int ibv_wr_complete(struct ibv_qp_ex *qp)
{
	return qp->wr_complete(qp);
}

/* Drops all that was built. */
static inline void ibv_wr_abort(struct ibv_qp_ex *qp)
{
	qp->wr_abort(qp);
}

static inline void ibv_wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
					 uint64_t compare, uint64_t swap)
{
	qp->wr_atomic_cmp_swp(qp, rkey, remote_addr, compare, swap);
}

static inline void ibv_wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey,
					   uint64_t remote_addr, uint64_t add)
{
	qp->wr_atomic_fetch_add(qp, rkey, remote_addr, add);
}

/* Writes 8 bytes at once. */
static inline void ibv_wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
				       const void *atomic_wr)
{
	qp->wr_atomic_write(qp, rkey, remote_addr, atomic_wr);
}

static inline void ibv_wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
				  const struct ibv_mw_bind_info *bind_info)
{
	qp->wr_bind_mw(qp, mw, rkey, bind_info);
}

/* Makes earlier writes to a range or a whole region visible or persistent. */
static inline void ibv_wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
				size_t len, uint8_t type, uint8_t level)
{
	qp->wr_flush(qp, rkey, remote_addr, len, type, level);
}

static inline void ibv_wr_local_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	qp->wr_local_inv(qp, invalidate_rkey);
}

static inline void ibv_wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	qp->wr_rdma_read(qp, rkey, remote_addr);
}

static inline void ibv_wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	qp->wr_rdma_write(qp, rkey, remote_addr);
}

static inline void ibv_wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
					 __be32 imm_data)
{
	qp->wr_rdma_write_imm(qp, rkey, remote_addr, imm_data);
}

static inline void ibv_wr_send(struct ibv_qp_ex *qp)
{
	qp->wr_send(qp);
}

static inline void ibv_wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	qp->wr_send_imm(qp, imm_data);
}

static inline void ibv_wr_send_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	qp->wr_send_inv(qp, invalidate_rkey);
}

static inline void ibv_wr_send_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	qp->wr_send_tso(qp, hdr, hdr_sz, mss);
}

static inline void ibv_wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	qp->wr_set_inline_data(qp, addr, length);
}

static inline void ibv_wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t num_buf,
					       const struct ibv_data_buf *buf_list)
{
	qp->wr_set_inline_data_list(qp, num_buf, buf_list);
}

static inline void ibv_wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr,
				  uint32_t length)
{
	qp->wr_set_sge(qp, lkey, addr, length);
}

static inline void ibv_wr_set_sge_list(struct ibv_qp_ex *qp, size_t num_sge,
				       const struct ibv_sge *sg_list)
{
	qp->wr_set_sge_list(qp, num_sge, sg_list);
}

static inline void ibv_wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn,
				      uint32_t remote_qkey)
{
	qp->wr_set_ud_addr(qp, ah, remote_qpn, remote_qkey);
}

static inline void ibv_wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t remote_srqn)
{
	qp->wr_set_xrc_srqn(qp, remote_srqn);
}

/* 64-bit key. */
static inline void ibv_wr_rdma_read64(struct ibv_qp_ex *qp, uint64_t rkey, uint64_t remote_addr)
{
	qp->wr_rdma_read64(qp, rkey, remote_addr);
}

/* 64-bit key. */
static inline void ibv_wr_rdma_write64(struct ibv_qp_ex *qp, uint64_t rkey, uint64_t remote_addr)
{
	qp->wr_rdma_write64(qp, rkey, remote_addr);
}

/* 32-bit key, 64-bit immediate. */
static inline void ibv_wr_rdma_write_imm64(struct ibv_qp_ex *qp, uint32_t rkey,
					   uint64_t remote_addr, __be64 imm_data)
{
	qp->wr_rdma_write_imm64(qp, rkey, remote_addr, imm_data);
}

/* 64-bit key, 32-bit immediate. */
static inline void ibv_wr_rdma_write64_imm(struct ibv_qp_ex *qp, uint64_t rkey,
					   uint64_t remote_addr, __be32 imm_data)
{
	qp->wr_rdma_write64_imm(qp, rkey, remote_addr, imm_data);
}

/* 64-bit key, 64-bit immediate. */
static inline void ibv_wr_rdma_write64_imm64(struct ibv_qp_ex *qp, uint64_t rkey,
					     uint64_t remote_addr, __be64 imm_data)
{
	qp->wr_rdma_write64_imm64(qp, rkey, remote_addr, imm_data);
}

/* 64-bit immediate. */
static inline void ibv_wr_send_imm64(struct ibv_qp_ex *qp, __be64 imm_data)
{
	qp->wr_send_imm64(qp, imm_data);
}

static inline void ibv_wr_set_sge64(struct ibv_qp_ex *qp, uint64_t lkey, uint64_t addr,
				    uint32_t length)
{
	qp->wr_set_sge64(qp, lkey, addr, length);
}

static inline void ibv_wr_set_sge64_list(struct ibv_qp_ex *qp, size_t num_sge,
					 const struct ibv_sge64 *sg_list)
{
	qp->wr_set_sge64_list(qp, num_sge, sg_list);
}

/* Names the peer by ah, or if that is NULL by its index in the job's address table. */
static inline void ibv_wr_set_ru_addr(struct ibv_qp_ex *qp, struct ibv_ah_ex *ah,
				      unsigned int addr_idx)
{
	qp->wr_set_ru_addr(qp, ah, addr_idx);
}

/* Names the job that the request belongs to, by ibv_job_key.jkey. */
static inline void ibv_wr_set_job_key(struct ibv_qp_ex *qp, uint32_t jkey)
{
	qp->wr_set_job_key(qp, jkey);
}

/*
 * Reliable-unconnected transports: jobs, address tables, job keys, semantics.
 *
 * Functions that return int give 0 or an errno value, and set errno to it.
 */

/* Makes a job. Needs privilege. NULL on failure, errno set: EPERM, EEXIST, EINVAL. */
struct ibv_job *ibv_alloc_job(struct ibv_context *context, struct ibv_job_attr *attr,
			      void *user_context);

/* Releases a job, or one's reference to an imported one. EBUSY while a job key refers to it. */
int ibv_dealloc_job(struct ibv_job *job);

/* Fills the members that attr->comp_mask asks for; on return it tells which are filled. */
int ibv_query_job(struct ibv_job *job, struct ibv_job_attr *attr);

/* Gives a descriptor by which another process can import the job. */
int ibv_export_job(struct ibv_job *job, int *fd);

/* Makes a reference to the job behind a descriptor. */
int ibv_import_job(struct ibv_context *context, int fd, struct ibv_job **job);

/*
 * Puts an address at an index of the job's table, over what is there. Needs privilege. flags are 0.
 */
int ibv_insert_addr(struct ibv_job *job, struct ibv_ah_attr_ex *ah_attr, unsigned int addr_idx,
		    unsigned int flags);

/* Clears an index of the job's table. Needs privilege. flags are 0. */
int ibv_remove_addr(struct ibv_job *job, unsigned int addr_idx, unsigned int flags);

/* Gives the address at an index of the job's table. flags are 0. */
int ibv_query_addr(struct ibv_job *job, unsigned int addr_idx, struct ibv_ah_attr_ex *ah_attr,
		   unsigned int flags);

/* Binds a job to a protection domain. flags are 0. NULL on failure, errno set. */
struct ibv_job_key *ibv_create_jkey(struct ibv_pd *pd, struct ibv_job *job, unsigned int flags);

/* Releases a job key. EBUSY while a queue pair or memory region uses it. */
int ibv_destroy_jkey(struct ibv_job_key *job_key);

/*
 * Tells what a queue pair of a type can guarantee behind a source GID. EOPNOTSUPP for other types.
 */
static inline int ibv_query_qp_semantics(struct ibv_context *context, enum ibv_qp_type qp_type,
					 uint8_t port_num, uint8_t sgid_index,
					 struct ibv_qp_semantics *qp_semantics,
					 size_t qp_semantic_len)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, query_qp_semantics);

	return vctx ? vctx->query_qp_semantics(context, qp_type, port_num, sgid_index, qp_semantics,
							qp_semantic_len) : EOPNOTSUPP;
}

/* Gives the peers of a queue pair access to a region of the same protection domain. */
static inline int ibv_attach_mr(struct ibv_qp *qp, struct ibv_mr *mr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(qp->context, attach_mr);

	return vctx ? vctx->attach_mr(qp, mr) : EOPNOTSUPP;
}

/* Takes that access away; local use stays. */
static inline int ibv_detach_mr(struct ibv_qp *qp, struct ibv_mr *mr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(qp->context, detach_mr);

	return vctx ? vctx->detach_mr(qp, mr) : EOPNOTSUPP;
}

/* Work queues and receive-side scaling. */

/* Makes a work queue. NULL on failure, errno set. */
static inline struct ibv_wq *ibv_create_wq(struct ibv_context *context,
					   struct ibv_wq_init_attr *wq_init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_wq);
	struct ibv_wq *wq;

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	wq = vctx->create_wq(context, wq_init_attr);
	if (wq) {
		wq->wq_context = wq_init_attr->wq_context;
		wq->events_completed = 0;
		pthread_mutex_init(&wq->mutex, NULL);
		pthread_cond_init(&wq->cond, NULL);
	}
	return wq;
}

/* Changes state or flags. Returns 0 or an errno value. */
static inline int ibv_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *wq_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(wq->context, modify_wq);

	return vctx ? vctx->modify_wq(wq, wq_attr) : EOPNOTSUPP;
}

/* Returns 0 or an errno value. */
static inline int ibv_destroy_wq(struct ibv_wq *wq)
{
	struct verbs_context *vctx = verbs_get_ctx_op(wq->context, destroy_wq);

	return vctx ? vctx->destroy_wq(wq) : EOPNOTSUPP;
}

/* Makes an indirection table of work queues. NULL on failure, errno set. */
static inline struct ibv_rwq_ind_table *ibv_create_rwq_ind_table(struct ibv_context *context,
	struct ibv_rwq_ind_table_init_attr *init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_rwq_ind_table);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_rwq_ind_table(context, init_attr);
}

/* Returns 0 or an errno value. */
static inline int ibv_destroy_rwq_ind_table(struct ibv_rwq_ind_table *rwq_ind_table)
{
	struct verbs_context *vctx =
		verbs_get_ctx_op(rwq_ind_table->context, destroy_rwq_ind_table);

	return vctx ? vctx->destroy_rwq_ind_table(rwq_ind_table) : EOPNOTSUPP;
}

/* Posts receives. Returns 0 or an errno value; *bad_recv_wr is the first that was not posted. */
static inline int ibv_post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *recv_wr,
				   struct ibv_recv_wr **bad_recv_wr)
{
	return wq->post_recv(wq, recv_wr, bad_recv_wr);
}

/* Flow steering. */

/* Attaches a flow rule to a queue pair. NULL on failure, errno set. */
static inline struct ibv_flow *ibv_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *flow)
{
	struct verbs_context *vctx = verbs_get_ctx_op(qp->context, ibv_create_flow);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->ibv_create_flow(qp, flow);
}

/* Returns 0 or an errno value. */
static inline int ibv_destroy_flow(struct ibv_flow *flow_id)
{
	struct verbs_context *vctx = verbs_get_ctx_op(flow_id->context, ibv_destroy_flow);

	return vctx ? vctx->ibv_destroy_flow(flow_id) : EOPNOTSUPP;
}

/* Makes an ESP action for flow rules. NULL on failure, errno set. */
static inline struct ibv_flow_action *ibv_create_flow_action_esp(struct ibv_context *ctx,
	struct ibv_flow_action_esp_attr *esp)
{
	struct verbs_context *vctx = verbs_get_ctx_op(ctx, create_flow_action_esp);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_flow_action_esp(ctx, esp);
}

/* Returns 0 or an errno value. */
static inline int ibv_modify_flow_action_esp(struct ibv_flow_action *action,
					     struct ibv_flow_action_esp_attr *esp)
{
	struct verbs_context *vctx = verbs_get_ctx_op(action->context, modify_flow_action_esp);

	return vctx ? vctx->modify_flow_action_esp(action, esp) : EOPNOTSUPP;
}

/* Returns 0 or an errno value. */
static inline int ibv_destroy_flow_action(struct ibv_flow_action *action)
{
	struct verbs_context *vctx = verbs_get_ctx_op(action->context, destroy_flow_action);

	return vctx ? vctx->destroy_flow_action(action) : EOPNOTSUPP;
}

/* Counters. */

/* Makes a set of counters. NULL on failure, errno set. */
static inline struct ibv_counters *ibv_create_counters(struct ibv_context *context,
						       struct ibv_counters_init_attr *init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_counters);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_counters(context, init_attr);
}

/* Returns 0 or an errno value. */
static inline int ibv_destroy_counters(struct ibv_counters *counters)
{
	struct verbs_context *vctx = verbs_get_ctx_op(counters->context, destroy_counters);

	return vctx ? vctx->destroy_counters(counters) : EOPNOTSUPP;
}

/* Chooses what an index of the set counts. Returns 0 or an errno value. */
static inline int ibv_attach_counters_point_flow(struct ibv_counters *counters,
						 struct ibv_counter_attach_attr *attr,
						 struct ibv_flow *flow)
{
	struct verbs_context *vctx =
		verbs_get_ctx_op(counters->context, attach_counters_point_flow);

	return vctx ? vctx->attach_counters_point_flow(counters, attr, flow) : EOPNOTSUPP;
}

/* Reads the first ncounters counters. Returns 0 or an errno value. */
static inline int ibv_read_counters(struct ibv_counters *counters, uint64_t *counters_value,
				    uint32_t ncounters, uint32_t flags)
{
	struct verbs_context *vctx = verbs_get_ctx_op(counters->context, read_counters);

	return vctx ? vctx->read_counters(counters, counters_value, ncounters, flags) : EOPNOTSUPP;
}

/*
 * Reads the items of attr->items, each with its own time stamp and status, into attr->results.
 * Returns 0 or an errno value; after 0 look at the status of every result.
 */
int ibv_read_counters_ex(struct ibv_counters *counters, struct ibv_read_counters_attr *attr);

/* Makes a completion counter. NULL on failure, errno set. */
struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *context,
					   struct ibv_comp_cntr_init_attr *cc_attr);

/* Returns 0 or an errno value. */
int ibv_destroy_comp_cntr(struct ibv_comp_cntr *comp_cntr);

/* Sets the count of completions. Returns 0 or an errno value. */
int ibv_set_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value);

/* Sets the count of errors. Returns 0 or an errno value. */
int ibv_set_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value);

/* Adds to the count of completions. Returns 0 or an errno value. */
int ibv_inc_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount);

/* Adds to the count of errors. Returns 0 or an errno value. */
int ibv_inc_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount);

/* Reads the count of completions. Returns 0 or an errno value. */
int ibv_read_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value);

/* Reads the count of errors. Returns 0 or an errno value. */
int ibv_read_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value);

/* Has a queue pair count the operations of attr->op_mask. Returns 0 or an errno value. */
int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *comp_cntr,
			    struct ibv_qp_attach_comp_cntr_attr *attr);

/* For ibv_query_comp_cntr_caps(), with the size as the caller was built. */
int _ibv_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps,
			      size_t caps_size);

/* Tells what completion counters can do. Returns 0 or an errno value. */
static inline int ibv_query_comp_cntr_caps(struct ibv_context *context,
					   struct ibv_comp_cntr_caps *caps)
{
	return _ibv_query_comp_cntr_caps(context, caps, sizeof(*caps));
}

/* Fork, rates, texts. */

/*
 * Prepares the library for fork(). Call it before memory is registered. Returns 0 or an errno
 * value.
 */
int ibv_fork_init(void);

/* Tells whether fork() is safe. */
enum ibv_fork_status ibv_is_fork_initialized(void);

/* Returns a rate as a multiple of 2.5 Gb/s, -1 if it is none. */
int ibv_rate_to_mult(enum ibv_rate rate);

/* Returns the rate for a multiple of 2.5 Gb/s, IBV_RATE_MAX if there is none. */
enum ibv_rate mult_to_ibv_rate(int mult);

/* Returns a rate in Mb/s, -1 if it is none. */
int ibv_rate_to_mbps(enum ibv_rate rate);

/* Returns the rate for a number of Mb/s, IBV_RATE_MAX if there is none. */
enum ibv_rate mbps_to_ibv_rate(int mbps);

/* Returns a text for a node type. */
const char *ibv_node_type_str(enum ibv_node_type node_type);

/* Returns a text for a port state. */
const char *ibv_port_state_str(enum ibv_port_state port_state);

/* Returns a text for an event. */
const char *ibv_event_type_str(enum ibv_event_type event);

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_VERBS_H */
