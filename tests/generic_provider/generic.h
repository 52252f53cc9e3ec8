/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A provider in C that knows no hardware: every verb is a command to the kernel, which makes it fit for
 * any software RDMA device with the answers of generic_user_abi.h. There is no data path.
 */
#ifndef GENERIC_H
#define GENERIC_H

#include <infiniband/driver.h>

struct generic_device {
	struct verbs_device ibv_dev;
};

struct generic_context {
	struct verbs_context ibv_ctx;
};

static inline struct generic_device *to_gdev(struct ibv_device *ibdev)
{
	return container_of(ibdev, struct generic_device, ibv_dev.device);
}

static inline struct generic_context *to_gctx(struct ibv_context *ibctx)
{
	return container_of(ibctx, struct generic_context, ibv_ctx.context);
}

int generic_query_device_ex(struct ibv_context *context,
			    const struct ibv_query_device_ex_input *input,
			    struct ibv_device_attr_ex *attr, size_t attr_size);
int generic_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr);

struct ibv_pd *generic_alloc_pd(struct ibv_context *context);
int generic_dealloc_pd(struct ibv_pd *pd);
struct ibv_pd *generic_import_pd(struct ibv_context *context, uint32_t pd_handle);
void generic_unimport_pd(struct ibv_pd *pd);

struct ibv_mr *generic_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			      int access);
int generic_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		     int access);
int generic_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *generic_import_mr(struct ibv_pd *pd, uint32_t mr_handle);
void generic_unimport_mr(struct ibv_mr *mr);

struct ibv_cq *generic_create_cq(struct ibv_context *context, int cqe,
				 struct ibv_comp_channel *channel, int comp_vector);
int generic_resize_cq(struct ibv_cq *cq, int cqe);
int generic_destroy_cq(struct ibv_cq *cq);

struct ibv_qp *generic_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int generic_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		     struct ibv_qp_init_attr *init_attr);
int generic_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int generic_destroy_qp(struct ibv_qp *qp);

struct ibv_ah *generic_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int generic_destroy_ah(struct ibv_ah *ah);

#endif /* GENERIC_H */
