/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What providers see of the library. It is C, so that providers in C can be built with it; it
 * changes with every IBVERBS_PABI_VERSION.
 */
#ifndef INFINIBAND_DRIVER_H
#define INFINIBAND_DRIVER_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#ifdef __cplusplus
#include <atomic>
#else
#include <stdatomic.h>
#endif

#include <infiniband/cmd_ioctl.h>
#include <infiniband/container.h>
#include <infiniband/kern-abi.h>
#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_verbs.h>

/* Number of the interface; a provider is built for exactly one. */
#ifndef IBVERBS_PABI_VERSION
#define IBVERBS_PABI_VERSION 66
#endif

#ifdef __cplusplus
typedef std::atomic<int> verbs_atomic_int;

extern "C" {
#else
typedef atomic_int verbs_atomic_int;
#endif

struct verbs_context_ops;
struct verbs_device;

/* Objects. */

enum {
	VERBS_LOG_LEVEL_NONE,
	VERBS_LOG_ERR,
	VERBS_LOG_WARN,
	VERBS_LOG_INFO,
	VERBS_LOG_DEBUG,
};

enum verbs_xrcd_mask {
	VERBS_XRCD_HANDLE = 1 << 0,
	VERBS_XRCD_RESERVED = 1 << 1,
};

/* How to create a completion queue in the kernel. */
enum create_cq_cmd_flags {
	CREATE_CQ_CMD_FLAGS_TS_IGNORED_EX = 1 << 0,
	CREATE_CQ_CMD_FLAGS_WITH_MEM_VA = 1 << 1,
	CREATE_CQ_CMD_FLAGS_WITH_MEM_DMABUF = 1 << 2,
};

/* Memory of the provider for a completion queue. */
struct verbs_create_cq_prov_attr {
	struct {
		uint64_t length;
		union {
			uint8_t *ptr;
			struct {
				uint64_t offset;
				int fd;
			} dmabuf;
		};
	} buffer;
};

/*
 * The provider-facing form of each object: what the command functions fill behind the public part.
 */
struct verbs_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask;
	uint32_t handle;
};

struct verbs_srq {
	struct ibv_srq srq;
	enum ibv_srq_type srq_type;
	struct verbs_xrcd *xrcd;
	struct ibv_cq *cq;
	uint32_t srq_num;
};

/* Members of struct verbs_qp that are valid. */
enum verbs_qp_mask {
	VERBS_QP_XRCD = 1 << 0,
	VERBS_QP_EX = 1 << 1,
};

/* GID types by the names that sysfs has for them. */
enum ibv_gid_type_sysfs {
	IBV_GID_TYPE_SYSFS_IB_ROCE_V1,
	IBV_GID_TYPE_SYSFS_ROCE_V2,
	IBV_GID_TYPE_SYSFS_UET_UDP,
	IBV_GID_TYPE_SYSFS_UET_IP,
	IBV_GID_TYPE_SYSFS_UET_UFH,
	IBV_GID_TYPE_SYSFS_SLINGSHOT,
};

/* Which parts of a GID entry to look up when the kernel has no ioctl for it. */
enum verbs_query_gid_attr_mask {
	VERBS_QUERY_GID_ATTR_GID = 1 << 0,
	VERBS_QUERY_GID_ATTR_TYPE = 1 << 1,
	VERBS_QUERY_GID_ATTR_NDEV_IFINDEX = 1 << 2,
};

/* How a region came to be; decides what releasing it has to undo. */
enum ibv_mr_type {
	IBV_MR_TYPE_MR,
	IBV_MR_TYPE_NULL_MR,
	IBV_MR_TYPE_IMPORTED_MR,
	IBV_MR_TYPE_DMABUF_MR,
};

struct verbs_mr {
	struct ibv_mr ibv_mr;
	enum ibv_mr_type mr_type;
	int access; /* as registered; decides whether fork protection ends */
};

static inline struct verbs_mr *verbs_get_mr(struct ibv_mr *mr)
{
	return container_of(mr, struct verbs_mr, ibv_mr);
}

struct verbs_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
	};
	uint32_t comp_mask;
	struct verbs_xrcd *xrcd;
};

struct verbs_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
};

enum ibv_flow_action_type {
	IBV_FLOW_ACTION_UNSPECIFIED,
	IBV_FLOW_ACTION_ESP,
};

struct verbs_flow_action {
	struct ibv_flow_action action;
	uint32_t handle;
	enum ibv_flow_action_type type;
};

struct verbs_dm {
	struct ibv_dm dm;
	uint32_t handle;
};

struct verbs_dmah {
	struct ibv_dmah dmah;
	uint32_t handle;
};

static inline struct verbs_dmah *verbs_get_dmah(struct ibv_dmah *dmah)
{
	return container_of(dmah, struct verbs_dmah, dmah);
}

struct verbs_counters {
	struct ibv_counters counters;
	uint32_t handle;
};

/* A buffer that the device can reach; dmabuf_fd is -1 when no dma-buf stands behind it. */
struct ibv_buf {
	void *addr;
	size_t size;
	struct ibv_pd *pd;
	int dmabuf_fd;
};

/* Devices. */

enum {
	VERBS_MATCH_SENTINEL,
	VERBS_MATCH_PCI,
	VERBS_MATCH_MODALIAS,
	VERBS_MATCH_DRIVER_ID,
};

/* One rule of a match table; the table ends with an entry that is all zero. */
struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor;
	uint16_t device;
	uint8_t kind;
};

#define VERBS_DRIVER_ID(_id)                                                                       \
	{                                                                                          \
		.u = { .driver_id = (_id) }, .kind = VERBS_MATCH_DRIVER_ID,                        \
	}

#define VERBS_PCI_MATCH(_vendor, _device, _data)                                                   \
	{                                                                                          \
		.driver_data = (void *)(_data), .vendor = (_vendor), .device = (_device),          \
		.kind = VERBS_MATCH_PCI,                                                           \
	}

#define VERBS_MODALIAS_MATCH(_mod_str, _data)                                                      \
	{                                                                                          \
		.driver_data = (void *)(_data), .u = { .modalias = (_mod_str) },                   \
		.kind = VERBS_MATCH_MODALIAS,                                                      \
	}

/* Matches devices by the start of their kernel name. */
#define VERBS_NAME_MATCH(_name_prefix, _data)                                                      \
	VERBS_MODALIAS_MATCH("rdma_device:*N" _name_prefix "*", _data)

enum {
	VSYSFS_READ_MODALIAS = 1,
	VSYSFS_READ_NODE_GUID,
};

/* What discovery knows about a device. */
struct verbs_sysfs_dev {
	struct list_node entry;
	void *provider_data;
	const struct verbs_match_ent *match; /* the rule that matched */
	unsigned int flags; /* VSYSFS_READ_*: what of the following is cached */
	char sysfs_name[IBV_SYSFS_NAME_MAX];
	dev_t sysfs_cdev;
	char ibdev_name[IBV_SYSFS_NAME_MAX];
	char ibdev_path[IBV_SYSFS_PATH_MAX];
	char modalias[512];
	uint64_t node_guid;
	uint32_t driver_id;
	enum ibv_node_type node_type;
	int ibdev_idx; /* -1: not known */
	uint32_t num_ports;
	uint32_t abi_ver; /* version of the provider's kernel ABI */
	struct timespec time_created;
};

/*
 * alloc_device is asked once a rule has matched. alloc_context and import_context own cmd_fd, also
 * when they fail; private_data comes from verbs_open_device().
 */
struct verbs_device_ops {
	const char *name;
	uint32_t match_min_abi_version;
	uint32_t match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;
	bool (*match_device)(struct verbs_sysfs_dev *sysfs_dev);
	struct verbs_context *(*alloc_context)(struct ibv_device *device, int cmd_fd,
					       void *private_data);
	struct verbs_context *(*import_context)(struct ibv_device *device, int cmd_fd);
	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs_dev);
	void (*uninit_device)(struct verbs_device *device);
};

/* The provider-facing form of a device. */
struct verbs_device {
	struct ibv_device device;
	const struct verbs_device_ops *ops;
	verbs_atomic_int refcount;
	struct list_node entry;
	struct verbs_sysfs_dev *sysfs;
	uint64_t core_support;
};

static inline struct verbs_device *verbs_get_device(const struct ibv_device *dev)
{
	return container_of(dev, struct verbs_device, device);
}

/* The first form of a provider's entry point; nothing calls it any more. */
typedef struct verbs_device *(*verbs_driver_init_func)(const char *uverbs_sys_path,
						       int abi_version);

/*
 * The operations of an open device, in alphabetical order. An operation that a provider leaves out
 * gets a default, most of which answer EOPNOTSUPP.
 */
struct verbs_context_ops {
	int (*advise_mr)(struct ibv_pd *pd, enum ib_uverbs_advise_mr_advice advice, uint32_t flags,
			 struct ibv_sge *sg_list, uint32_t num_sge);
	void *(*alloc_buf)(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);
	struct ibv_dm *(*alloc_dm)(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
	struct ibv_dmah *(*alloc_dmah)(struct ibv_context *context,
				       struct ibv_dmah_init_attr *attr);
	struct ibv_job *(*alloc_job)(struct ibv_context *context, struct ibv_job_attr *attr,
				     void *user_context);
	struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
	struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *pd);
	struct ibv_pd *(*alloc_parent_domain)(struct ibv_context *context,
					      struct ibv_parent_domain_init_attr *attr);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_td *(*alloc_td)(struct ibv_context *context, struct ibv_td_init_attr *init_attr);
	void (*async_event)(struct ibv_context *context, struct ibv_async_event *async_event);
	int (*attach_counters_point_flow)(struct ibv_counters *counters,
					  struct ibv_counter_attach_attr *attr,
					  struct ibv_flow *flow);
	int (*attach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
	int (*attach_mr)(struct ibv_qp *qp, struct ibv_mr *mr);
	int (*bind_mw)(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind);
	int (*close_xrcd)(struct ibv_xrcd *xrcd);
	void (*cq_event)(struct ibv_cq *cq);
	struct ibv_ah *(*create_ah)(struct ibv_pd *pd, struct ibv_ah_attr *attr);
	struct ibv_ah *(*create_ah_ex)(struct ibv_pd *pd, struct ibv_ah_attr_ex *attr);
	struct ibv_comp_channel *(*create_comp_channel)(struct ibv_context *context);
	struct ibv_comp_cntr *(*create_comp_cntr)(struct ibv_context *context,
						  struct ibv_comp_cntr_init_attr *cc_attr);
	struct ibv_counters *(*create_counters)(struct ibv_context *context,
						struct ibv_counters_init_attr *init_attr);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int arg,
				    struct ibv_comp_channel *channel, int arg2);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context,
					  struct ibv_cq_init_attr_ex *cq_attr);
	struct ibv_flow *(*create_flow)(struct ibv_qp *qp, struct ibv_flow_attr *flow);
	struct ibv_flow_action *(*create_flow_action_esp)(struct ibv_context *ctx,
							  struct ibv_flow_action_esp_attr *esp);
	struct ibv_job_key *(*create_jkey)(struct ibv_pd *pd, struct ibv_job *job,
					   unsigned int flags);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *context,
				       struct ibv_qp_init_attr_ex *qp_init_attr_ex);
	struct ibv_rwq_ind_table *(*create_rwq_ind_table)(struct ibv_context *context,
		struct ibv_rwq_ind_table_init_attr *init_attr);
	struct ibv_srq *(*create_srq)(struct ibv_pd *pd, struct ibv_srq_init_attr *srq_init_attr);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *context,
					 struct ibv_srq_init_attr_ex *srq_init_attr_ex);
	struct ibv_wq *(*create_wq)(struct ibv_context *context,
				    struct ibv_wq_init_attr *wq_init_attr);
	int (*dealloc_dmah)(struct ibv_dmah *dmah);
	int (*dealloc_job)(struct ibv_job *job);
	int (*dealloc_mw)(struct ibv_mw *mw);
	int (*dealloc_pd)(struct ibv_pd *pd);
	int (*dealloc_td)(struct ibv_td *td);
	int (*dereg_mr)(struct verbs_mr *mr);
	int (*destroy_ah)(struct ibv_ah *ah);
	int (*destroy_comp_channel)(struct ibv_comp_channel *channel);
	int (*destroy_comp_cntr)(struct ibv_comp_cntr *comp_cntr);
	int (*destroy_counters)(struct ibv_counters *counters);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*destroy_flow)(struct ibv_flow *flow_id);
	int (*destroy_flow_action)(struct ibv_flow_action *action);
	int (*destroy_jkey)(struct ibv_job_key *job_key);
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*destroy_rwq_ind_table)(struct ibv_rwq_ind_table *rwq_ind_table);
	int (*destroy_srq)(struct ibv_srq *srq);
	int (*destroy_wq)(struct ibv_wq *wq);
	int (*detach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
	int (*detach_mr)(struct ibv_qp *qp, struct ibv_mr *mr);
	int (*dm_export_dmabuf_fd)(struct ibv_dm *dm);
	int (*export_job)(struct ibv_job *job, int *fd);
	void (*free_buf)(struct ibv_buf *buf);
	void (*free_context)(struct ibv_context *context);
	int (*free_dm)(struct ibv_dm *dm);
	int (*get_srq_num)(struct ibv_srq *srq, uint32_t *srq_num);
	struct ibv_dm *(*import_dm)(struct ibv_context *context, uint32_t dm_handle);
	int (*import_job)(struct ibv_context *context, int fd, struct ibv_job **job);
	struct ibv_mr *(*import_mr)(struct ibv_pd *pd, uint32_t mr_handle);
	struct ibv_pd *(*import_pd)(struct ibv_context *context, uint32_t pd_handle);
	int (*inc_comp_cntr)(struct ibv_comp_cntr *comp_cntr, uint64_t amount);
	int (*inc_err_comp_cntr)(struct ibv_comp_cntr *comp_cntr, uint64_t amount);
	int (*insert_addr)(struct ibv_job *job, struct ibv_ah_attr_ex *ah_attr,
			   unsigned int addr_idx, unsigned int flags);
	int (*modify_cq)(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
	int (*modify_flow_action_esp)(struct ibv_flow_action *action,
				      struct ibv_flow_action_esp_attr *esp);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
	int (*modify_qp_rate_limit)(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);
	int (*modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask);
	int (*modify_wq)(struct ibv_wq *wq, struct ibv_wq_attr *wq_attr);
	struct ibv_qp *(*open_qp)(struct ibv_context *context,
				  struct ibv_qp_open_attr *qp_open_attr);
	struct ibv_xrcd *(*open_xrcd)(struct ibv_context *context,
				      struct ibv_xrcd_init_attr *xrcd_init_attr);
	int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
	int (*post_recv64)(struct ibv_qp *qp, struct ibv_recv_wr64 *recv_wr,
			   struct ibv_recv_wr64 **bad_recv_wr);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
	int (*post_srq_ops)(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op);
	int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *recv_wr,
			     struct ibv_recv_wr **bad_recv_wr);
	int (*qp_attach_comp_cntr)(struct ibv_qp *qp, struct ibv_comp_cntr *comp_cntr,
				   struct ibv_qp_attach_comp_cntr_attr *attr);
	int (*query_addr)(struct ibv_job *job, unsigned int addr_idx,
			  struct ibv_ah_attr_ex *ah_attr, unsigned int flags);
	int (*query_comp_cntr_caps)(struct ibv_context *context, struct ibv_comp_cntr_caps *caps,
				    size_t caps_size);
	int (*query_device_ex)(struct ibv_context *context,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr, size_t attr_size);
	int (*query_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	int (*query_job)(struct ibv_job *job, struct ibv_job_attr *attr);
	int (*query_port)(struct ibv_context *context, uint8_t port_num,
			  struct ibv_port_attr *port_attr);
	int (*query_port_speed)(struct ibv_context *context, uint32_t port_num,
				uint64_t *port_speed);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
			struct ibv_qp_init_attr *init_attr);
	int (*query_qp_data_in_order)(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);
	int (*query_qp_semantics)(struct ibv_context *context, enum ibv_qp_type qp_type,
				  uint8_t port_num, uint8_t sgid_index,
				  struct ibv_qp_semantics *qp_semantics, size_t qp_semantic_len);
	int (*query_rt_values)(struct ibv_context *context, struct ibv_values_ex *values_ex);
	int (*query_srq)(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr);
	int (*read_comp_cntr)(struct ibv_comp_cntr *comp_cntr, uint64_t *value);
	int (*read_counters)(struct ibv_counters *counters, uint64_t *counters_value,
			     uint32_t ncounters, uint32_t flags);
	int (*read_counters_ex)(struct ibv_counters *counters, struct ibv_read_counters_attr *attr);
	int (*read_err_comp_cntr)(struct ibv_comp_cntr *comp_cntr, uint64_t *value);
	struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
				    size_t length, unsigned int access);
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset, size_t length,
					uint64_t iova, int fd, int access);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *arg, size_t len, uint64_t value,
				 int arg2);
	struct ibv_mr *(*reg_mr_ex)(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr);
	int (*remove_addr)(struct ibv_job *job, unsigned int addr_idx, unsigned int flags);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	int (*rereg_mr)(struct verbs_mr *mr, int flags, struct ibv_pd *pd, void *addr,
			size_t length, int access);
	int (*resize_cq)(struct ibv_cq *cq, int cqe);
	int (*set_comp_cntr)(struct ibv_comp_cntr *comp_cntr, uint64_t value);
	int (*set_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	int (*set_err_comp_cntr)(struct ibv_comp_cntr *comp_cntr, uint64_t value);
	void (*unimport_dm)(struct ibv_dm *dm);
	void (*unimport_mr)(struct ibv_mr *mr);
	void (*unimport_pd)(struct ibv_pd *pd);
};

/* Registration and life cycle. */

#define _VERBS_PABI_NAME(name, version) name##_##version
#define _VERBS_PABI_EXPAND(name, version) _VERBS_PABI_NAME(name, version)
#define verbs_register_driver _VERBS_PABI_EXPAND(verbs_register_driver, IBVERBS_PABI_VERSION)

/* Adds a provider to those that are asked about devices. ops must stay valid. */
void verbs_register_driver(const struct verbs_device_ops *ops);

/* PROVIDER_DRIVER(name, ops), at file scope: registers ops when the library is loaded. */
#ifdef __cplusplus
#define _VERBS_PROVIDER_ALIAS(provider_name, drv_struct)
#else
/* The name by which statically linked programs refer to the provider. */
#define _VERBS_PROVIDER_ALIAS(provider_name, drv_struct)                                           \
	extern const struct verbs_device_ops verbs_provider_##provider_name                        \
		__attribute__((alias(#drv_struct)));
#endif
#define PROVIDER_DRIVER(provider_name, drv_struct)                                                 \
	_VERBS_PROVIDER_ALIAS(provider_name, drv_struct)                                           \
	static __attribute__((constructor)) void drv_struct##__register_driver(void)               \
	{                                                                                          \
		verbs_register_driver(&drv_struct);                                                \
	}

/* For the macro below. */
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t alloc_size,
				    struct verbs_context *context_offset, uint32_t driver_id);

/*
 * Allocates a zeroed provider context of the type that ptr points to and initializes its member, a
 * struct verbs_context. NULL on failure, errno set and cmd_fd closed.
 */
#define verbs_init_and_alloc_context(ibdev, cmd_fd, ptr, member, driver_id)                        \
	((__typeof__(ptr))_verbs_init_and_alloc_context(                                           \
		(ibdev), (cmd_fd), sizeof(*(ptr)),                                                 \
		(struct verbs_context *)offsetof(__typeof__(*(ptr)), member), (driver_id)))

/*
 * Undoes it: closes the descriptors and drops the reference to the device. The caller frees the
 * memory.
 */
void verbs_uninit_context(struct verbs_context *context);

/* Overlays the operations of a context with those of ops that are not NULL. Later calls win. */
void verbs_set_ops(struct verbs_context *vctx, const struct verbs_context_ops *ops);

/* Initializes the core's part of a completion queue that a provider-specific function made. */
void verbs_init_cq(struct ibv_cq *cq, struct ibv_context *context, struct ibv_comp_channel *channel,
		   void *cq_context);

/* Opens a device with data for alloc_context. NULL on failure, errno set. */
struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data);

/* Logging. fmt ends with a newline; errno is kept. */

void __verbs_log(struct verbs_context *ctx, uint32_t level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define verbs_log(ctx, level, format, ...)                                                         \
	__verbs_log(ctx, level, "%s: %s:%d: " format, (ctx)->context.device->name, __func__,       \
		    __LINE__, ##__VA_ARGS__)
#define verbs_debug(ctx, format, ...) verbs_log(ctx, VERBS_LOG_DEBUG, format, ##__VA_ARGS__)
#define verbs_info(ctx, format, ...) verbs_log(ctx, VERBS_LOG_INFO, format, ##__VA_ARGS__)
#define verbs_warn(ctx, format, ...) verbs_log(ctx, VERBS_LOG_WARN, format, ##__VA_ARGS__)
#define verbs_err(ctx, format, ...) verbs_log(ctx, VERBS_LOG_ERR, format, ##__VA_ARGS__)

/* On the data path these cost nothing unless the provider is built with VERBS_DEBUG. */
#ifdef VERBS_DEBUG
#define verbs_log_datapath(ctx, level, format, ...) verbs_log(ctx, level, format, ##__VA_ARGS__)
#else
#define verbs_log_datapath(ctx, level, format, ...)                                                \
	do {                                                                                       \
		if (0)                                                                             \
			verbs_log(ctx, level, format, ##__VA_ARGS__);                              \
	} while (0)
#endif
#define verbs_debug_datapath(ctx, format, ...)                                                     \
	verbs_log_datapath(ctx, VERBS_LOG_DEBUG, format, ##__VA_ARGS__)
#define verbs_info_datapath(ctx, format, ...)                                                      \
	verbs_log_datapath(ctx, VERBS_LOG_INFO, format, ##__VA_ARGS__)
#define verbs_warn_datapath(ctx, format, ...)                                                      \
	verbs_log_datapath(ctx, VERBS_LOG_WARN, format, ##__VA_ARGS__)
#define verbs_err_datapath(ctx, format, ...)                                                       \
	verbs_log_datapath(ctx, VERBS_LOG_ERR, format, ##__VA_ARGS__)

/*
 * Commands to the kernel. Each fills the object that it is given from the answer. cmd and resp,
 * where a function has them, start with the standard request and response and end with the
 * provider's own data; a link or driver buffer holds attributes that are sent along. Unless said
 * otherwise the functions return 0 or an errno value.
 */

/* Opens the context in the kernel: completion vectors, what its core supports. */
int ibv_cmd_get_context(struct verbs_context *context, struct ibv_get_context *cmd, size_t cmd_size,
			struct ibv_fd_arr *fd_arr, struct ib_uverbs_get_context_resp *resp,
			size_t resp_size);

/* The same for an imported context. */
int ibv_cmd_query_context(struct ibv_context *ctx, struct ibv_command_buffer *driver);

/* attr_size may end anywhere behind orig_attr; resp, if not NULL, gets the raw answer. */
int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp, size_t *resp_size);

int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_port_attr *port_attr, struct ibv_query_port *cmd,
		       size_t cmd_size);

int ibv_cmd_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *speed);

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd, struct ibv_alloc_pd *cmd,
		     size_t cmd_size, struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size);

int ibv_cmd_dealloc_pd(struct ibv_pd *pd);

int ibv_cmd_open_xrcd(struct ibv_context *context, struct verbs_xrcd *xrcd, int vxrcd_size,
		      struct ibv_xrcd_init_attr *attr, struct ibv_open_xrcd *cmd, size_t cmd_size,
		      struct ib_uverbs_open_xrcd_resp *resp, size_t resp_size);

int ibv_cmd_close_xrcd(struct verbs_xrcd *xrcd);

int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va, int access,
		   struct verbs_mr *vmr, struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size);

int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr, size_t length,
		     uint64_t hca_va, int access, struct ibv_pd *pd, struct ibv_rereg_mr *cmd,
		     size_t cmd_sz, struct ib_uverbs_rereg_mr_resp *resp, size_t resp_sz);

int ibv_cmd_dereg_mr(struct verbs_mr *vmr);

int ibv_cmd_reg_mr_ex(struct ibv_pd *pd, struct verbs_mr *vmr,
		      struct ibv_mr_init_attr *mr_init_attr);

int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
			  int access, struct verbs_mr *vmr, struct ibv_command_buffer *driver);

int ibv_cmd_query_mr(struct ibv_pd *pd, struct verbs_mr *vmr, uint32_t mr_handle);

int ibv_cmd_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		      struct ibv_sge *sg_list, uint32_t num_sge);

int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw,
		     struct ibv_alloc_mw *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_mw_resp *resp, size_t resp_size);

int ibv_cmd_dealloc_mw(struct ibv_mw *mw);

/* For providers whose create_comp_channel embeds the channel: fills context, fd and refcnt. */
int ibv_cmd_create_comp_channel(struct ibv_context *context, struct ibv_comp_channel *channel);

int ibv_cmd_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
		      int comp_vector, struct ibv_cq *cq, struct ibv_create_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_create_cq_resp *resp, size_t resp_size);

int ibv_cmd_create_cq_ex(struct ibv_context *context, const struct ibv_cq_init_attr_ex *cq_attr,
			 struct verbs_create_cq_prov_attr *prov_attr, struct verbs_cq *cq,
			 struct ibv_create_cq_ex *cmd, size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
			 uint32_t cmd_flags);

int ibv_cmd_create_cq_ex2(struct ibv_context *context, const struct ibv_cq_init_attr_ex *cq_attr,
			  struct verbs_create_cq_prov_attr *prov_attr, struct verbs_cq *cq,
			  struct ibv_create_cq_ex *cmd, size_t cmd_size,
			  struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
			  uint32_t cmd_flags, struct ibv_command_buffer *driver);

int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd, size_t cmd_size,
		      struct ib_uverbs_resize_cq_resp *resp, size_t resp_size);

int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr, struct ibv_modify_cq *cmd,
		      size_t cmd_size);

/* Returns the number of completions, or -1. */
int ibv_cmd_poll_cq(struct ibv_cq *cq, int ne, struct ibv_wc *wc);

int ibv_cmd_req_notify_cq(struct ibv_cq *cq, int solicited_only);

/*
 * Waits until all events are acknowledged, as do the other destroy functions of objects with
 * events.
 */
int ibv_cmd_destroy_cq(struct ibv_cq *cq);

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp, size_t resp_size);

int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *srq,
			  struct ibv_srq_init_attr_ex *attr_ex, struct ibv_create_xsrq *cmd,
			  size_t cmd_size, struct ib_uverbs_create_srq_resp *resp,
			  size_t resp_size);

int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask,
		       struct ibv_modify_srq *cmd, size_t cmd_size);

int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, struct ibv_query_srq *cmd,
		      size_t cmd_size);

int ibv_cmd_destroy_srq(struct ibv_srq *srq);

int ibv_cmd_create_qp(struct ibv_pd *pd, struct ibv_qp *qp, struct ibv_qp_init_attr *attr,
		      struct ibv_create_qp *cmd, size_t cmd_size,
		      struct ib_uverbs_create_qp_resp *resp, size_t resp_size);

/* For IBV_QP_INIT_ATTR_PD, _XRCD and _SEND_OPS_FLAGS. */
int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr_ex, struct ibv_create_qp *cmd,
			 size_t cmd_size, struct ib_uverbs_create_qp_resp *resp, size_t resp_size);

/* For all attributes. Set VERBS_QP_EX afterwards, it is cleared here. */
int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *qp,
			  struct ibv_qp_init_attr_ex *qp_attr, struct ibv_create_qp_ex *cmd,
			  size_t cmd_size, struct ib_uverbs_ex_create_qp_resp *resp,
			  size_t resp_size, struct ibv_command_buffer *driver);

int ibv_cmd_open_qp(struct ibv_context *context, struct verbs_qp *qp, int vqp_sz,
		    struct ibv_qp_open_attr *attr, struct ibv_open_qp *cmd, size_t cmd_size,
		    struct ib_uverbs_create_qp_resp *resp, size_t resp_size);

int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *qp_attr, int attr_mask,
		     struct ibv_qp_init_attr *qp_init_attr, struct ibv_query_qp *cmd,
		     size_t cmd_size);

/* For masks below IBV_QP_RATE_LIMIT. */
int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		      struct ibv_modify_qp *cmd, size_t cmd_size);

int ibv_cmd_modify_qp_ex(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
			 struct ibv_modify_qp_ex *cmd, size_t cmd_size,
			 struct ib_uverbs_ex_modify_qp_resp *resp, size_t resp_size);

int ibv_cmd_destroy_qp(struct ibv_qp *qp);

/* EINVAL without room for an answer; EOPNOTSUPP for other types than RU. */
int ibv_cmd_query_qp_semantics(struct ibv_context *context, enum ibv_qp_type qp_type,
			       struct ibv_qp_semantics *qp_semantics, size_t len);

int ibv_cmd_qp_attach_mr(struct ibv_qp *qp, struct ibv_mr *mr);

int ibv_cmd_qp_detach_mr(struct ibv_qp *qp, struct ibv_mr *mr);

int ibv_cmd_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

int ibv_cmd_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

int ibv_cmd_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* resp may be NULL. */
int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah, struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size);

int ibv_cmd_destroy_ah(struct ibv_ah *ah);

int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

/* ucmd is appended as the provider's data. */
int ibv_cmd_create_flow(struct ibv_qp *qp, struct ibv_flow *flow_id,
			struct ibv_flow_attr *flow_attr, void *ucmd, size_t ucmd_size);

int ibv_cmd_destroy_flow(struct ibv_flow *flow_id);

int ibv_cmd_create_flow_action_esp(struct ibv_context *ctx, struct ibv_flow_action_esp_attr *attr,
				   struct verbs_flow_action *flow_action,
				   struct ibv_command_buffer *driver);

int ibv_cmd_modify_flow_action_esp(struct verbs_flow_action *flow_action,
				   struct ibv_flow_action_esp_attr *attr,
				   struct ibv_command_buffer *driver);

int ibv_cmd_destroy_flow_action(struct verbs_flow_action *action);

int ibv_cmd_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *wq_init_attr,
		      struct ibv_wq *wq, struct ibv_create_wq *cmd, size_t cmd_size,
		      struct ib_uverbs_ex_create_wq_resp *resp, size_t resp_size);

int ibv_cmd_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr, struct ibv_modify_wq *cmd,
		      size_t cmd_size);

int ibv_cmd_destroy_wq(struct ibv_wq *wq);

int ibv_cmd_create_rwq_ind_table(struct ibv_context *context,
				 struct ibv_rwq_ind_table_init_attr *init_attr,
				 struct ibv_rwq_ind_table *rwq_ind_table,
				 struct ib_uverbs_ex_create_rwq_ind_table_resp *resp,
				 size_t resp_size);

int ibv_cmd_destroy_rwq_ind_table(struct ibv_rwq_ind_table *rwq_ind_table);

int ibv_cmd_create_counters(struct ibv_context *context, struct ibv_counters_init_attr *init_attr,
			    struct verbs_counters *vcounters, struct ibv_command_buffer *link);

int ibv_cmd_destroy_counters(struct verbs_counters *vcounters);

int ibv_cmd_read_counters(struct verbs_counters *vcounters, uint64_t *counters_value,
			  uint32_t ncounters, uint32_t flags, struct ibv_command_buffer *link);

/* EOPNOTSUPP if the kernel does not read items. */
int ibv_cmd_read_counters_ex(struct verbs_counters *vcounters, struct ibv_read_counters_attr *attr,
			     struct ibv_command_buffer *link);

int ibv_cmd_alloc_dm(struct ibv_context *ctx, const struct ibv_alloc_dm_attr *dm_attr,
		     struct verbs_dm *dm, struct ibv_command_buffer *link);

int ibv_cmd_free_dm(struct verbs_dm *dm);

int ibv_cmd_reg_dm_mr(struct ibv_pd *pd, struct verbs_dm *dm, uint64_t offset, size_t length,
		      unsigned int access, struct verbs_mr *vmr, struct ibv_command_buffer *link);

int ibv_cmd_alloc_dmah(struct ibv_context *ctx, struct verbs_dmah *st,
		       struct ibv_dmah_init_attr *attr);

int ibv_cmd_free_dmah(struct verbs_dmah *dmah);

/* Returns a dma-buf descriptor for a mapping offset of the device; -1 on failure, errno set. */
int ibv_cmd_export_dmabuf_fd(struct ibv_context *ctx, off_t pg_off);

int ibv_cmd_create_comp_cntr(struct ibv_context *context, struct ibv_comp_cntr *comp_cntr,
			     struct ibv_command_buffer *link);

int ibv_cmd_destroy_comp_cntr(struct ibv_comp_cntr *comp_cntr);

int ibv_cmd_set_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value);

int ibv_cmd_set_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value);

int ibv_cmd_inc_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount);

int ibv_cmd_inc_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount);

int ibv_cmd_read_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value);

int ibv_cmd_read_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value);

int ibv_cmd_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps,
				 size_t caps_size);

int ibv_cmd_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *comp_cntr,
				struct ibv_qp_attach_comp_cntr_attr *attr);

/* Helpers. */

/* Keeps whole pages of a range out of children until ibv_dofork_range() is called as often. */
int ibv_dontfork_range(void *base, size_t size);

int ibv_dofork_range(void *base, size_t size);

/* Returns where sysfs is mounted. */
const char *ibv_get_sysfs_path(void);

/* Reads a file without its last newline. Returns its length, -1 on failure. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

/* The same for a file below the device's folder; its name is a format. */
int ibv_read_ibdev_sysfs_file(char *buf, size_t size, struct verbs_sysfs_dev *sysfs_dev,
			      const char *fnfmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Gives the type of the entry at index by its name in sysfs. Returns 0 or -1. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
		       enum ibv_gid_type_sysfs *type);

/* Returns whether only supported bits are set. */
static inline bool check_comp_mask(uint64_t input, uint64_t supported)
{
	return (input & ~supported) == 0;
}

/* Returns 0, or -1 and errno if a parent domain is asked for without a protection domain. */
static inline int ibv_check_alloc_parent_domain(struct ibv_parent_domain_init_attr *attr)
{
	if (attr->pd)
		return 0;
	errno = EINVAL;
	return -1;
}

/* Makes a parent domain name the same kernel object as the domain in it. */
static inline void ibv_initialize_parent_domain(struct ibv_pd *parent_domain,
						struct ibv_pd *contained_pd)
{
	parent_domain->context = contained_pd->context;
	parent_domain->handle = contained_pd->handle;
}

static inline void ibv_buf_init_dmabuf(struct ibv_buf *buf, struct ibv_pd *pd, void *addr,
				       size_t size, int fd)
{
	buf->addr = addr;
	buf->size = size;
	buf->pd = pd;
	buf->dmabuf_fd = fd;
}

static inline void ibv_buf_init(struct ibv_buf *buf, struct ibv_pd *pd, void *addr, size_t size)
{
	ibv_buf_init_dmabuf(buf, pd, addr, size, -1);
}

/*
 * Adds the attribute that names memory of a provider by the dma-buf behind it, and allows only the
 * ioctl then. Does nothing if buf has no dma-buf. storage must live until the command is executed.
 * addr NULL stands for the start of the buffer, length 0 for all of it.
 */
static inline void fill_attr_in_buf_umem(struct ibv_command_buffer *cmdb, uint16_t attr_id,
					 struct ib_uverbs_buffer_desc *storage, struct ibv_buf *buf,
					 void *addr, size_t length)
{
	if (!buf || buf->dmabuf_fd == -1)
		return;
	memset(storage, 0, sizeof(*storage));
	storage->type = IB_UVERBS_BUFFER_TYPE_DMABUF;
	storage->fd = buf->dmabuf_fd;
	storage->addr = addr ? (uintptr_t)addr - (uintptr_t)buf->addr : 0;
	storage->length = length ? length : buf->size;
	fill_attr_in_ptr(cmdb, attr_id, storage);
	cmdb->fallback_ioctl_only = 1;
}

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_DRIVER_H */
