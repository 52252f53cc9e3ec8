// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands of flow rules. A rule is translated spec by spec: programs have the filters packed as C
// packs them, the kernel has them at fixed places, and some may grow at their end.
#include <algorithm>
#include <cstdint>

#include "../error.hpp"
#include "../export.hpp"
#include "../memory.hpp"
#include "cmd.hpp"

namespace verbs {
namespace {

constexpr size_t header_size = sizeof(ib_uverbs_flow_spec_hdr);

// Where a program's structure has its two filters, and how long the kernel's ones are.
struct FilterLayout {
  uint32_t type;  // of the program
  uint32_t kernel_type;
  bool inner;    // may describe the inner packet of a tunnel as well
  bool growing;  // programs may have longer filters than this library knows
  size_t user_value, user_mask;
  size_t size;
};

#define FILTER(name, kernel_name, structure, inner, growing)                                 \
  FilterLayout {                                                                             \
    IBV_FLOW_SPEC_##name, IBV_FLOW_SPEC_##kernel_name, inner, growing,                       \
        offsetof(ibv_flow_spec_##structure, val), offsetof(ibv_flow_spec_##structure, mask), \
        sizeof(ibv_flow_spec_##structure::val)                                               \
  }

constexpr FilterLayout filters[] = {
    FILTER(ETH, ETH, eth, true, false),
    FILTER(IPV4, IPV4, ipv4, true, false),
    FILTER(IPV4_EXT, IPV4, ipv4_ext, true, true),
    FILTER(IPV6, IPV6, ipv6, true, true),
    FILTER(TCP, TCP, tcp_udp, true, false),
    FILTER(UDP, UDP, tcp_udp, true, false),
    FILTER(ESP, ESP, esp, true, false),
    FILTER(MPLS, MPLS, mpls, true, false),
    FILTER(GRE, GRE, gre, false, false),
    FILTER(VXLAN_TUNNEL, VXLAN_TUNNEL, tunnel, false, true),
};
#undef FILTER

static_assert(sizeof(ibv_flow_spec_eth::val) == sizeof(ib_uverbs_flow_eth_filter));
static_assert(sizeof(ibv_flow_spec_ipv4_ext::val) == sizeof(ib_uverbs_flow_ipv4_filter));
static_assert(sizeof(ibv_flow_spec_ipv6::val) == sizeof(ib_uverbs_flow_ipv6_filter));

const FilterLayout* find_filter(uint32_t type) {
  for (const FilterLayout& layout : filters)
    if (layout.type == type || (layout.inner && (layout.type | IBV_FLOW_SPEC_INNER) == type))
      return &layout;
  return nullptr;
}

void write_header(std::byte* to, uint32_t type, size_t size) {
  ib_uverbs_flow_spec_hdr header{};
  header.type = type;
  header.size = static_cast<uint16_t>(size);
  memcpy(to, &header, header_size);
}

// Returns the length of what was written, or a negative errno value.
int translate_filter(const FilterLayout& layout, const std::byte* spec, uint32_t type,
                     size_t spec_size, std::byte* to) {
  size_t user_mask = layout.user_mask;
  if (layout.growing) {
    if (spec_size < layout.user_value) return -EINVAL;
    size_t user_size = (spec_size - layout.user_value) / 2;
    if (user_size < layout.size) return -EINVAL;
    user_mask = layout.user_value + user_size;
    const std::byte* surplus = spec + user_mask + layout.size;
    if (std::any_of(surplus, surplus + (user_size - layout.size),
                    [](std::byte byte) { return byte != std::byte{0}; }))
      return -EOPNOTSUPP;
  }
  size_t size = header_size + 2 * layout.size;
  write_header(to, layout.kernel_type | (type & IBV_FLOW_SPEC_INNER), size);
  memcpy(to + header_size, spec + layout.user_value, layout.size);
  memcpy(to + header_size + layout.size, spec + user_mask, layout.size);
  return static_cast<int>(size);
}

// Actions that carry one number.
int write_number(std::byte* to, uint32_t type, uint32_t number) {
  constexpr size_t size = sizeof(ib_uverbs_flow_spec_action_tag);
  static_assert(size == sizeof(ib_uverbs_flow_spec_action_handle) &&
                size == sizeof(ib_uverbs_flow_spec_action_count));
  write_header(to, type, size);
  memcpy(to + header_size, &number, sizeof(number));
  memset(to + header_size + sizeof(number), 0, size - header_size - sizeof(number));
  return static_cast<int>(size);
}

// Specs follow each other as packed as their sizes say, so none of them need be aligned.
template <class T>
T read_at(const std::byte* spec, size_t offset) {
  T value;
  memcpy(&value, spec + offset, sizeof(value));
  return value;
}

size_t size_of_spec(const std::byte* spec) {
  return read_at<uint16_t>(spec, offsetof(ibv_flow_spec, hdr.size));
}

int translate(const std::byte* spec, std::byte* to) {
  auto type = read_at<uint32_t>(spec, offsetof(ibv_flow_spec, hdr.type));
  if (const FilterLayout* layout = find_filter(type))
    return translate_filter(*layout, spec, type, size_of_spec(spec), to);
  switch (type) {
    case IBV_FLOW_SPEC_ACTION_TAG:
      return write_number(to, type,
                          read_at<uint32_t>(spec, offsetof(ibv_flow_spec_action_tag, tag_id)));
    case IBV_FLOW_SPEC_ACTION_DROP:
      write_header(to, type, sizeof(ib_uverbs_flow_spec_action_drop));
      return sizeof(ib_uverbs_flow_spec_action_drop);
    case IBV_FLOW_SPEC_ACTION_HANDLE: {
      constexpr size_t offset = offsetof(ibv_flow_spec_action_handle, action);
      return write_number(to, type, read_at<const verbs_flow_action*>(spec, offset)->handle);
    }
    case IBV_FLOW_SPEC_ACTION_COUNT: {
      constexpr size_t offset = offsetof(ibv_flow_spec_counter_action, counters);
      return write_number(to, type, read_at<const verbs_counters*>(spec, offset)->handle);
    }
    default:
      return -EINVAL;
  }
}

}  // namespace
}  // namespace verbs

using namespace verbs;

VERBS_EXPORT int ibv_cmd_create_flow(ibv_qp* qp, ibv_flow* flow, ibv_flow_attr* attr, void* ucmd,
                                     size_t ucmd_size) {
  size_t room = sizeof(ib_uverbs_create_flow) + attr->num_of_specs * sizeof(ibv_kern_spec);
  Owned request(static_cast<ib_uverbs_create_flow*>(calloc(1, room)));
  if (!request) return with_errno(ENOMEM);
  request->qp_handle = qp->handle;
  request->flow_attr.type = static_cast<uint32_t>(attr->type);
  request->flow_attr.priority = attr->priority;
  request->flow_attr.num_of_specs = attr->num_of_specs;
  request->flow_attr.port = attr->port;
  request->flow_attr.flags = attr->flags;

  auto* start = reinterpret_cast<std::byte*>(request.get() + 1);
  auto* to = start;
  auto* from = reinterpret_cast<const std::byte*>(attr + 1);
  for (unsigned i = 0; i < attr->num_of_specs; i++) {
    int written = translate(from, to);
    if (written < 0) return with_errno(-written);
    to += written;
    from += size_of_spec(from);
  }
  request->flow_attr.size = static_cast<uint16_t>(to - start);

  ib_uverbs_create_flow_resp response{};
  const UserData data{.in = ucmd, .in_length = ucmd_size};
  const auto* bytes = reinterpret_cast<const std::byte*>(request.get());
  if (int error =
          invoke_write(*qp->context, extended(IB_USER_VERBS_EX_CMD_CREATE_FLOW),
                       {bytes, static_cast<size_t>(to - bytes)}, writable_bytes_of(response), data))
    return with_errno(error);
  flow->context = qp->context;
  flow->handle = response.flow_handle;
  return 0;
}

VERBS_EXPORT int ibv_cmd_destroy_flow(ibv_flow* flow) {
  Command<UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY, 1> command;
  command.object(UVERBS_ATTR_DESTROY_FLOW_HANDLE, flow->handle);
  int error = command.execute(*flow->context);
  destroyed(error);
  return error;
}
