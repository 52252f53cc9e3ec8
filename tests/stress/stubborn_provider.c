/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A provider that claims devices and then makes none of them. */
#include <infiniband/driver.h>

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	(void)sysfs_dev;
	return NULL;
}

static struct verbs_context *alloc_context(struct ibv_device *ibdev, int cmd_fd, void *private_data)
{
	(void)ibdev;
	(void)cmd_fd;
	(void)private_data;
	return NULL;
}

static const struct verbs_match_ent match_table[] = {
	VERBS_NAME_MATCH("stubborn", NULL),
	{},
};

static const struct verbs_device_ops stubborn_ops = {
	.name = "stubborn",
	.match_max_abi_version = 2,
	.match_table = match_table,
	.alloc_device = alloc_device,
	.alloc_context = alloc_context,
};
PROVIDER_DRIVER(stubborn, stubborn_ops);
