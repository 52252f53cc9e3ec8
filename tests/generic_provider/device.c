/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Which devices this provider takes, and opening and closing them. */
#include <errno.h>
#include <stdlib.h>

#include <infiniband/driver.h>
#include <kernel-abi/generic_user_abi.h>

#include "generic.h"
#include "generic_user_abi.h"

static void generic_free_context(struct ibv_context *ibctx);

static const struct verbs_context_ops generic_ops = {
	.alloc_pd = generic_alloc_pd,
	.attach_mcast = ibv_cmd_attach_mcast,
	.create_ah = generic_create_ah,
	.create_cq = generic_create_cq,
	.create_qp = generic_create_qp,
	.dealloc_pd = generic_dealloc_pd,
	.dereg_mr = generic_dereg_mr,
	.destroy_ah = generic_destroy_ah,
	.destroy_cq = generic_destroy_cq,
	.destroy_qp = generic_destroy_qp,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = generic_free_context,
	.import_mr = generic_import_mr,
	.import_pd = generic_import_pd,
	.modify_qp = generic_modify_qp,
	.query_device_ex = generic_query_device_ex,
	.query_port = generic_query_port,
	.query_qp = generic_query_qp,
	.reg_mr = generic_reg_mr,
	.req_notify_cq = ibv_cmd_req_notify_cq,
	.rereg_mr = generic_rereg_mr,
	.resize_cq = generic_resize_cq,
	.unimport_mr = generic_unimport_mr,
	.unimport_pd = generic_unimport_pd,
};

static struct verbs_context *generic_alloc_context(struct ibv_device *ibdev, int cmd_fd,
						   void *private_data)
{
	struct ib_uverbs_get_context_resp resp = {};
	struct ibv_get_context cmd = {};
	struct generic_context *context;
	int ret;

	(void)private_data;
	context = verbs_init_and_alloc_context(ibdev, cmd_fd, context, ibv_ctx, RDMA_DRIVER_RXE);
	if (!context)
		return NULL;
	ret = ibv_cmd_get_context(&context->ibv_ctx, &cmd, sizeof(cmd), NULL, &resp, sizeof(resp));
	if (ret)
		goto err_free;
	verbs_set_ops(&context->ibv_ctx, &generic_ops);
	return &context->ibv_ctx;

err_free:
	verbs_err(&context->ibv_ctx, "the kernel gives no context: %d\n", ret);
	verbs_uninit_context(&context->ibv_ctx);
	free(context);
	errno = ret;
	return NULL;
}

static struct verbs_context *generic_import_context(struct ibv_device *ibdev, int cmd_fd)
{
	struct generic_context *context;
	int ret;

	context = verbs_init_and_alloc_context(ibdev, cmd_fd, context, ibv_ctx, RDMA_DRIVER_RXE);
	if (!context)
		return NULL;
	ret = ibv_cmd_query_context(&context->ibv_ctx.context, NULL);
	if (ret) {
		verbs_uninit_context(&context->ibv_ctx);
		free(context);
		errno = ret;
		return NULL;
	}
	verbs_set_ops(&context->ibv_ctx, &generic_ops);
	return &context->ibv_ctx;
}

static void generic_free_context(struct ibv_context *ibctx)
{
	struct generic_context *context = to_gctx(ibctx);

	verbs_uninit_context(&context->ibv_ctx);
	free(context);
}

static struct verbs_device *generic_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	struct generic_device *device;

	(void)sysfs_dev;
	device = calloc(1, sizeof(*device));
	if (!device)
		return NULL;
	return &device->ibv_dev;
}

static void generic_uninit_device(struct verbs_device *verbs_device)
{
	free(to_gdev(&verbs_device->device));
}

/* By name for kernels that do not tell the driver. */
static const struct verbs_match_ent generic_match_table[] = {
	VERBS_DRIVER_ID(RDMA_DRIVER_RXE),
	VERBS_NAME_MATCH("rxe", NULL),
	{},
};

static const struct verbs_device_ops generic_dev_ops = {
	.name = "generic",
	.match_min_abi_version = GENERIC_UVERBS_ABI_VERSION,
	.match_max_abi_version = GENERIC_UVERBS_ABI_VERSION,
	.match_table = generic_match_table,
	.alloc_device = generic_alloc_device,
	.uninit_device = generic_uninit_device,
	.alloc_context = generic_alloc_context,
	.import_context = generic_import_context,
};
PROVIDER_DRIVER(generic, generic_dev_ops);
