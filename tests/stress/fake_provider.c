/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A provider without a kernel behind it, for devices whose node is /dev/null. What it does wrong depends on
 * the name of the device: "broken" in it fails to open, "silent" leaves the events to the kernel, which has
 * none for /dev/null. With "kernel" in it the kernel is asked for a context as for a real device.
 */
#include <errno.h>
#include <infiniband/driver.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

struct fake_device {
	struct verbs_device vdev;
};

struct fake_context {
	struct verbs_context vctx;
};

static void free_context(struct ibv_context *ibctx)
{
	struct fake_context *context = container_of(ibctx, struct fake_context, vctx.context);

	verbs_uninit_context(&context->vctx);
	free(context);
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
	(void)context;
	if (port != 1)
		return EINVAL;
	attr->state = IBV_PORT_ACTIVE;
	return 0;
}

static const struct verbs_context_ops context_ops = {
	.free_context = free_context,
	.query_port = query_port,
};

static struct verbs_context *alloc_context(struct ibv_device *ibdev, int cmd_fd, void *private_data)
{
	struct fake_context *context;

	(void)private_data;
	context = verbs_init_and_alloc_context(ibdev, cmd_fd, context, vctx, RDMA_DRIVER_UNKNOWN);
	if (!context)
		return NULL;
	verbs_set_ops(&context->vctx, &context_ops);
	if (strstr(ibdev->name, "broken")) {
		verbs_uninit_context(&context->vctx);
		free(context);
		errno = ENXIO;
		return NULL;
	}
	if (strstr(ibdev->name, "kernel")) {
		struct ib_uverbs_get_context_resp resp = {};
		struct ibv_get_context cmd = {};
		int ret;

		ret = ibv_cmd_get_context(&context->vctx, &cmd, sizeof(cmd), NULL, &resp, sizeof(resp));
		if (ret) {
			verbs_uninit_context(&context->vctx);
			free(context);
			errno = ret;
			return NULL;
		}
	}
	if (!strstr(ibdev->name, "silent"))
		context->vctx.context.async_fd = eventfd(0, EFD_CLOEXEC);
	return &context->vctx;
}

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	struct fake_device *device = calloc(1, sizeof(*device));

	(void)sysfs_dev;
	return device ? &device->vdev : NULL;
}

static void uninit_device(struct verbs_device *vdev)
{
	free(container_of(vdev, struct fake_device, vdev));
}

static const struct verbs_match_ent match_table[] = {
	VERBS_NAME_MATCH("fake", NULL),
	VERBS_NAME_MATCH("stubborn", NULL),
	{},
};

static const struct verbs_device_ops fake_ops = {
	.name = "fake",
	.match_min_abi_version = 0,
	.match_max_abi_version = 2,
	.match_table = match_table,
	.alloc_device = alloc_device,
	.uninit_device = uninit_device,
	.alloc_context = alloc_context,
};
PROVIDER_DRIVER(fake, fake_ops);

#ifdef REGISTER_TWICE
static __attribute__((constructor)) void register_again(void)
{
	verbs_register_driver(&fake_ops);
}
#endif
