/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The verbs, each with one command to the kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <kernel-abi/generic_user_abi.h>

#include "generic.h"

DECLARE_DRV_CMD(ugeneric_create_cq, IB_USER_VERBS_CMD_CREATE_CQ, empty, generic_create_cq_resp);
DECLARE_DRV_CMD(ugeneric_create_qp, IB_USER_VERBS_CMD_CREATE_QP, empty, generic_create_qp_resp);
DECLARE_DRV_CMD(ugeneric_create_ah, IB_USER_VERBS_CMD_CREATE_AH, empty, generic_create_ah_resp);
DECLARE_DRV_CMD(ugeneric_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ, empty, generic_create_cq_resp);

int generic_query_device_ex(struct ibv_context *context,
			    const struct ibv_query_device_ex_input *input,
			    struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	uint64_t fw_ver;
	int ret;

	ret = ibv_cmd_query_device_any(context, input, attr, attr_size, &resp, &resp_size);
	if (ret)
		return ret;
	fw_ver = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%u",
		 (unsigned int)(fw_ver >> 32) & 0xffff, (unsigned int)(fw_ver >> 16) & 0xffff,
		 (unsigned int)fw_ver & 0xffff);
	return 0;
}

int generic_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(context, port, attr, &cmd, sizeof(cmd));
}

struct ibv_pd *generic_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd;
	struct ibv_pd *pd;
	int ret;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	ret = ibv_cmd_alloc_pd(context, pd, &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (ret) {
		free(pd);
		errno = ret;
		return NULL;
	}
	return pd;
}

int generic_dealloc_pd(struct ibv_pd *pd)
{
	int ret = ibv_cmd_dealloc_pd(pd);

	if (ret)
		return ret;
	free(pd);
	return 0;
}

struct ibv_pd *generic_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->context = context;
	pd->handle = pd_handle;
	return pd;
}

void generic_unimport_pd(struct ibv_pd *pd)
{
	free(pd);
}

struct ibv_mr *generic_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			      int access)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct ibv_reg_mr cmd;
	struct verbs_mr *vmr;
	int ret;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	ret = ibv_cmd_reg_mr(pd, addr, length, hca_va, access, vmr, &cmd, sizeof(cmd), &resp,
			     sizeof(resp));
	if (ret) {
		free(vmr);
		errno = ret;
		return NULL;
	}
	return &vmr->ibv_mr;
}

int generic_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		     int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ibv_rereg_mr cmd;

	return ibv_cmd_rereg_mr(vmr, flags, addr, length, (uintptr_t)addr, access, pd, &cmd,
				sizeof(cmd), &resp, sizeof(resp));
}

int generic_dereg_mr(struct verbs_mr *vmr)
{
	int ret = ibv_cmd_dereg_mr(vmr);

	if (ret)
		return ret;
	free(vmr);
	return 0;
}

struct ibv_mr *generic_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	struct verbs_mr *vmr;
	int ret;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	ret = ibv_cmd_query_mr(pd, vmr, mr_handle);
	if (ret) {
		free(vmr);
		errno = ret;
		return NULL;
	}
	return &vmr->ibv_mr;
}

void generic_unimport_mr(struct ibv_mr *mr)
{
	free(verbs_get_mr(mr));
}

struct ibv_cq *generic_create_cq(struct ibv_context *context, int cqe,
				 struct ibv_comp_channel *channel, int comp_vector)
{
	struct ugeneric_create_cq_resp resp = {};
	struct verbs_cq *vcq;
	int ret;

	vcq = calloc(1, sizeof(*vcq));
	if (!vcq)
		return NULL;
	ret = ibv_cmd_create_cq(context, cqe, channel, comp_vector, &vcq->cq, NULL, 0,
				&resp.ibv_resp, sizeof(resp));
	if (ret) {
		free(vcq);
		errno = ret;
		return NULL;
	}
	return &vcq->cq;
}

int generic_resize_cq(struct ibv_cq *cq, int cqe)
{
	struct ugeneric_resize_cq_resp resp = {};
	struct ibv_resize_cq cmd;

	return ibv_cmd_resize_cq(cq, cqe, &cmd, sizeof(cmd), &resp.ibv_resp, sizeof(resp));
}

int generic_destroy_cq(struct ibv_cq *cq)
{
	int ret = ibv_cmd_destroy_cq(cq);

	if (ret)
		return ret;
	free(container_of(cq, struct verbs_cq, cq));
	return 0;
}

struct ibv_qp *generic_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ugeneric_create_qp_resp resp = {};
	struct ibv_create_qp cmd = {};
	struct verbs_qp *vqp;
	int ret;

	vqp = calloc(1, sizeof(*vqp));
	if (!vqp)
		return NULL;
	ret = ibv_cmd_create_qp(pd, &vqp->qp, attr, &cmd, sizeof(cmd), &resp.ibv_resp,
				sizeof(resp));
	if (ret) {
		free(vqp);
		errno = ret;
		return NULL;
	}
	return &vqp->qp;
}

int generic_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		     struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd;

	return ibv_cmd_query_qp(qp, attr, attr_mask, init_attr, &cmd, sizeof(cmd));
}

int generic_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct ibv_modify_qp cmd = {};

	return ibv_cmd_modify_qp(qp, attr, attr_mask, &cmd, sizeof(cmd));
}

int generic_destroy_qp(struct ibv_qp *qp)
{
	int ret = ibv_cmd_destroy_qp(qp);

	if (ret)
		return ret;
	free(container_of(qp, struct verbs_qp, qp));
	return 0;
}

struct ibv_ah *generic_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ugeneric_create_ah_resp resp = {};
	struct ibv_ah *ah;
	int ret;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	ret = ibv_cmd_create_ah(pd, ah, attr, &resp.ibv_resp, sizeof(resp));
	if (ret) {
		free(ah);
		errno = ret;
		return NULL;
	}
	return ah;
}

int generic_destroy_ah(struct ibv_ah *ah)
{
	int ret = ibv_cmd_destroy_ah(ah);

	if (ret)
		return ret;
	free(ah);
	return 0;
}
