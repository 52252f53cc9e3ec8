/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A provider in C, with what providers use of the private headers. It is compiled and registered, and
 * the layout of its commands is checked.
 */
#include <infiniband/cmd_ioctl.h>
#include <infiniband/cmd_write.h>
#include <infiniband/driver.h>
#include <infiniband/kern-abi.h>
#include <stdlib.h>

struct abi_req {
	__u32 ring_entries;
	__u32 flags;
};
struct abi_resp {
	__aligned_u64 doorbell;
};
#define _STRUCT_abi_req                                                                            \
	struct {                                                                                   \
		__u32 ring_entries;                                                                \
		__u32 flags;                                                                       \
	}
#define _STRUCT_abi_resp                                                                           \
	struct {                                                                                   \
		__aligned_u64 doorbell;                                                            \
	}

DECLARE_DRV_CMD(abi_create_cq, IB_USER_VERBS_CMD_CREATE_CQ, abi_req, abi_resp);
DECLARE_DRV_CMD(abi_alloc_pd, IB_USER_VERBS_CMD_ALLOC_PD, empty, empty);
DECLARE_DRV_CMD(abi_create_qp_ex, IB_USER_VERBS_EX_CMD_CREATE_QP, abi_req, abi_resp);
DECLARE_DRV_CMD(abi_dereg_mr, IB_USER_VERBS_CMD_DEREG_MR, empty, empty);

_Static_assert(offsetof(struct abi_create_cq, ring_entries) == 40, "provider data follows the header");
_Static_assert(offsetof(struct abi_create_cq, drv_payload) == 40, "both names are the same bytes");
_Static_assert(offsetof(struct abi_create_cq_resp, doorbell) == 8, "and the standard response");
_Static_assert(sizeof(struct abi_alloc_pd) == 16 && sizeof(struct abi_alloc_pd_resp) == 4, "empty");
_Static_assert(sizeof(struct abi_dereg_mr) == 12 && sizeof(struct abi_dereg_mr_resp) == 0, "empty");
_Static_assert(sizeof(struct abi_create_qp_ex) == 96, "extended header");

struct abi_context {
	int before;
	struct verbs_context ibv_ctx;
};

static const struct verbs_context_ops context_ops;

static struct verbs_context *alloc_context(struct ibv_device *device, int cmd_fd,
					   void *private_data)
{
	struct abi_context *context;

	context = verbs_init_and_alloc_context(device, cmd_fd, context, ibv_ctx, RDMA_DRIVER_CXI);
	if (!context)
		return NULL;
	verbs_set_ops(&context->ibv_ctx, &context_ops);
	if (private_data)
		verbs_warn(&context->ibv_ctx, "no use for %p\n", private_data);
	verbs_debug_datapath(&context->ibv_ctx, "open\n");
	return &context->ibv_ctx;
}

static const struct verbs_match_ent match_table[] = {
	VERBS_DRIVER_ID(RDMA_DRIVER_CXI),
	VERBS_PCI_MATCH(0x17db, 0x0501, NULL),
	VERBS_MODALIAS_MATCH("pci:v000017DBd*", NULL),
	VERBS_NAME_MATCH("cxi", NULL),
	{},
};

static const struct verbs_device_ops abi_provider_ops = {
	.name = "abi",
	.match_table = match_table,
	.alloc_context = alloc_context,
};
PROVIDER_DRIVER(abi, abi_provider_ops);

/* For the test: a buffer with a link behind it, as command functions declare it. */
int abi_send_linked(struct ibv_context *context, struct ibv_command_buffer *link);

int abi_send_linked(struct ibv_context *context, struct ibv_command_buffer *link)
{
	DECLARE_COMMAND_BUFFER_LINK(cmd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, 2, link);
	uint32_t cqe = 7;

	fill_attr_in_ptr(cmd, UVERBS_ATTR_CREATE_CQ_CQE, &cqe);
	fill_attr_out_obj(cmd, UVERBS_ATTR_CREATE_CQ_HANDLE);
	return execute_ioctl(context, cmd);
}
