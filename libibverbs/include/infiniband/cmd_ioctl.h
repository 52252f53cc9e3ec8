/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Builds the attributes of a uverbs ioctl. A provider declares a buffer on the stack, fills it and
 * passes it to a command function as link, which sends its attributes along with the standard ones:
 *
 *	DECLARE_COMMAND_BUFFER(link, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, 1);
 *
 *	fill_attr_in_uint32(link, MY_ATTR_RING_BYTES, bytes);
 *	ret = ibv_cmd_create_cq_ex2(..., link);
 *
 * Every attribute is mandatory unless attr_optional() says otherwise: a kernel that does not know it
 * refuses the call with EPROTONOSUPPORT. Data is read when the command is executed, except that inputs
 * of at most 8 bytes are copied at once.
 */
#ifndef INFINIBAND_CMD_IOCTL_H
#define INFINIBAND_CMD_IOCTL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Value of the uhw indexes for "there is none". */
enum {
	_UHW_NO_INDEX = 0xFF,
};

struct ibv_command_buffer {
	struct ibv_command_buffer *next; /* the buffer whose attributes follow */
	struct ib_uverbs_attr *next_attr;
	struct ib_uverbs_attr *last_attr; /* end of the room */
	/* Where the provider's opaque data is, and how far behind the core's structure it lies. */
	uint8_t uhw_in_idx;
	uint8_t uhw_out_idx;
	uint8_t uhw_in_headroom_dwords;
	uint8_t uhw_out_headroom_dwords;

	uint8_t buffer_error : 1; /* something did not fit; executing fails with EINVAL */
	/* How the command may be sent if the kernel does not know its ioctl. */
	uint8_t fallback_require_ex : 1;
	uint8_t fallback_ioctl_only : 1;
	struct ib_uverbs_ioctl_hdr hdr; /* the attributes follow it */
};

/* Returns how much room num_attrs attributes and those of the buffers behind link need. */
unsigned int __ioctl_final_num_attrs(unsigned int num_attrs, struct ibv_command_buffer *link);

/* Sends a command with the attributes of all linked buffers. Returns 0 or an errno value. */
int execute_ioctl(struct ibv_context *context, struct ibv_command_buffer *cmd);

static inline int _ioctl_init_cmdb(struct ibv_command_buffer *cmd, uint16_t object_id,
				   uint16_t method_id, size_t num_attrs,
				   struct ibv_command_buffer *link)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->next = link;
	cmd->next_attr = cmd->hdr.attrs;
	cmd->last_attr = cmd->hdr.attrs + num_attrs;
	cmd->uhw_in_idx = _UHW_NO_INDEX;
	cmd->uhw_out_idx = _UHW_NO_INDEX;
	cmd->hdr.object_id = object_id;
	cmd->hdr.method_id = method_id;
	return 0;
}

/* The buffer and its attributes in units of the buffer, so that an array can be on the stack. */
#define _IOCTL_NUM_CMDB(_num_attrs)                                                                \
	((sizeof(struct ibv_command_buffer) + sizeof(struct ib_uverbs_attr) * (_num_attrs) +       \
	  sizeof(struct ibv_command_buffer) - 1) /                                                 \
	 sizeof(struct ibv_command_buffer))

/* Declares a buffer with room for _num_attrs attributes. */
#define DECLARE_COMMAND_BUFFER(_name, _object_id, _method_id, _num_attrs)                          \
	struct ibv_command_buffer _name[_IOCTL_NUM_CMDB(_num_attrs)];                              \
	int _name##_initialized __attribute__((unused)) =                                          \
		_ioctl_init_cmdb(_name, _object_id, _method_id, _num_attrs, NULL)

/* The same with the room for the attributes of the buffers behind _link, which are sent along. */
#define DECLARE_COMMAND_BUFFER_LINK(_name, _object_id, _method_id, _num_attrs, _link)              \
	const unsigned int _name##_total = __ioctl_final_num_attrs(_num_attrs, _link);             \
	struct ibv_command_buffer _name[_IOCTL_NUM_CMDB(_name##_total)];                           \
	int _name##_initialized __attribute__((unused)) =                                          \
		_ioctl_init_cmdb(_name, _object_id, _method_id, _name##_total, _link)

static inline struct ib_uverbs_attr *_ioctl_next_attr(struct ibv_command_buffer *cmd,
						      uint16_t attr_id)
{
	struct ib_uverbs_attr *attr = cmd->next_attr++;

	assert(cmd->next_attr <= cmd->last_attr);
	memset(attr, 0, sizeof(*attr));
	attr->attr_id = attr_id;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	return attr;
}

/* Lets a kernel that does not know the attribute ignore it. attr may be NULL. */
static inline struct ib_uverbs_attr *attr_optional(struct ib_uverbs_attr *attr)
{
	if (attr)
		attr->flags &= (uint16_t)~UVERBS_ATTR_F_MANDATORY;
	return attr;
}

/* Returns ptr as the kernel takes it from programs of any width. */
static inline uint64_t ioctl_ptr_to_u64(const void *ptr)
{
	return (uintptr_t)ptr;
}

/* Returns size * nelems, or SIZE_MAX if that is too much: no attribute is that long. */
static inline size_t _array_len(size_t size, size_t nelems)
{
	size_t len;

	return __builtin_mul_overflow(size, nelems, &len) ? SIZE_MAX : len;
}

/* Returns val / div, which must leave no rest. */
static inline size_t __check_divide(size_t val, unsigned int div)
{
	assert(val % div == 0);
	return val / div;
}

/* Clears what a 32-bit program leaves undefined beside a pointer declared with RDMA_UAPI_PTR. */
static inline void _scrub_ptr_attr(void **ptr)
{
	uint64_t value = ioctl_ptr_to_u64(*ptr);

	memcpy(ptr, &value, sizeof(value));
}
#if UINTPTR_MAX == UINT64_MAX
#define scrub_ptr_attr(ptr)
#else
#define scrub_ptr_attr(ptr) _scrub_ptr_attr((void **)(void *)&(ptr))
#endif

/* Objects. */
static inline struct ib_uverbs_attr *fill_attr_in_obj(struct ibv_command_buffer *cmd,
						      uint16_t attr_id, uint32_t idr)
{
	struct ib_uverbs_attr *attr = _ioctl_next_attr(cmd, attr_id);

	attr->data = idr;
	return attr;
}

/* The kernel puts the handle of the new object there; see read_attr_obj(). */
static inline struct ib_uverbs_attr *fill_attr_out_obj(struct ibv_command_buffer *cmd,
						       uint16_t attr_id)
{
	return fill_attr_in_obj(cmd, attr_id, 0);
}

static inline uint32_t read_attr_obj(uint16_t attr_id, struct ib_uverbs_attr *attr)
{
	assert(attr->attr_id == attr_id);
	(void)attr_id;
	return (uint32_t)attr->data;
}

/* Inputs. */
static inline struct ib_uverbs_attr *fill_attr_in(struct ibv_command_buffer *cmd, uint16_t attr_id,
						  const void *data, size_t len)
{
	struct ib_uverbs_attr *attr = _ioctl_next_attr(cmd, attr_id);

	if (len > UINT16_MAX)
		cmd->buffer_error = 1;
	attr->len = (uint16_t)len;
	if (len > sizeof(attr->data))
		attr->data = ioctl_ptr_to_u64(data);
	else if (data)
		memcpy(&attr->data, data, len);
	return attr;
}

#define fill_attr_in_ptr(cmd, attr_id, ptr) fill_attr_in(cmd, attr_id, ptr, sizeof(*(ptr)))

#define fill_attr_in_ptr_array(cmd, attr_id, ptr, nelems)                                          \
	fill_attr_in(cmd, attr_id, ptr, _array_len(sizeof(*(ptr)), nelems))

static inline struct ib_uverbs_attr *fill_attr_in_objs_arr(struct ibv_command_buffer *cmd,
							   uint16_t attr_id,
							   const uint32_t *idrs_arr, size_t nelems)
{
	return fill_attr_in_ptr_array(cmd, attr_id, idrs_arr, nelems);
}

static inline struct ib_uverbs_attr *fill_attr_in_uint64(struct ibv_command_buffer *cmd,
							 uint16_t attr_id, uint64_t data)
{
	return fill_attr_in(cmd, attr_id, &data, sizeof(data));
}

/* For constants, which the kernel takes as 64 bits whatever their type. */
#define fill_attr_const_in(cmd, attr_id, data) fill_attr_in_uint64(cmd, attr_id, data)

static inline struct ib_uverbs_attr *fill_attr_in_uint32(struct ibv_command_buffer *cmd,
							 uint16_t attr_id, uint32_t data)
{
	return fill_attr_in(cmd, attr_id, &data, sizeof(data));
}

/* elem_id says what kind of data it is. */
static inline struct ib_uverbs_attr *fill_attr_in_enum(struct ibv_command_buffer *cmd,
						       uint16_t attr_id, uint8_t elem_id,
						       const void *data, size_t len)
{
	struct ib_uverbs_attr *attr = fill_attr_in(cmd, attr_id, data, len);

	attr->attr_data.enum_data.elem_id = elem_id;
	return attr;
}

/* Returns NULL and adds nothing if fd is -1. */
static inline struct ib_uverbs_attr *fill_attr_in_fd(struct ibv_command_buffer *cmd,
						     uint16_t attr_id, int fd)
{
	struct ib_uverbs_attr *attr;

	if (fd == -1)
		return NULL;
	attr = _ioctl_next_attr(cmd, attr_id);
	attr->data_s64 = fd;
	return attr;
}

/* Outputs. */
static inline struct ib_uverbs_attr *fill_attr_out(struct ibv_command_buffer *cmd, uint16_t attr_id,
						   void *data, size_t len)
{
	struct ib_uverbs_attr *attr = _ioctl_next_attr(cmd, attr_id);

	if (len > UINT16_MAX)
		cmd->buffer_error = 1;
	attr->len = (uint16_t)len;
	attr->data = ioctl_ptr_to_u64(data);
	return attr;
}

#define fill_attr_out_ptr(cmd, attr_id, ptr) fill_attr_out(cmd, attr_id, ptr, sizeof(*(ptr)))

#define fill_attr_out_ptr_array(cmd, attr_id, ptr, nelems)                                         \
	fill_attr_out(cmd, attr_id, ptr, _array_len(sizeof(*(ptr)), nelems))

/* The kernel puts a new descriptor there, whatever fd is; see read_attr_fd(). */
static inline struct ib_uverbs_attr *fill_attr_out_fd(struct ibv_command_buffer *cmd,
						      uint16_t attr_id, int fd)
{
	(void)fd;
	return _ioctl_next_attr(cmd, attr_id);
}

static inline int read_attr_fd(uint16_t attr_id, struct ib_uverbs_attr *attr)
{
	assert(attr->attr_id == attr_id);
	(void)attr_id;
	return (int)attr->data_s64;
}

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_CMD_IOCTL_H */
