// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Answers of RDMA netlink, arbitrary ones and such that are almost right, through libnl to the
// decoders and to the scan that is made of them.
#include <fuzzer/FuzzedDataProvider.h>
#include <rdma/rdma_netlink.h>

#include <cstdlib>
#include <cstring>

#include "../discovery/netlink.hpp"
#include "../discovery/scan.hpp"
#include "scripted_netlink.hpp"

namespace {

using scripted::Bytes;
using scripted::Datagram;

// Those that the decoders look at come up more often than chance would have it.
constexpr uint16_t known_attributes[] = {
    RDMA_NLDEV_ATTR_DEV_INDEX,        RDMA_NLDEV_ATTR_DEV_NAME,
    RDMA_NLDEV_ATTR_PORT_INDEX,       RDMA_NLDEV_ATTR_NODE_GUID,
    RDMA_NLDEV_ATTR_DEV_NODE_TYPE,    RDMA_NLDEV_ATTR_CHARDEV,
    RDMA_NLDEV_ATTR_CHARDEV_NAME,     RDMA_NLDEV_ATTR_CHARDEV_ABI,
    RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK,
};

class Script {
 public:
  Script(const uint8_t* data, size_t size) : input_(data, size) {}

  std::vector<Bytes> answer(const nlmsghdr& request) {
    std::vector<Bytes> datagrams;
    for (int i = input_.ConsumeIntegralInRange(0, 3); i > 0; i--)
      datagrams.push_back(input_.ConsumeBool() ? arbitrary() : likely(request));
    if (request.nlmsg_flags & NLM_F_DUMP && input_.ConsumeBool())
      datagrams.push_back(scripted::done());
    return datagrams;
  }

 private:
  Bytes arbitrary() {
    return input_.ConsumeBytes<uint8_t>(input_.ConsumeIntegralInRange<size_t>(0, 200));
  }

  void add_right(Datagram& datagram, uint16_t type) {
    switch (type) {
      case RDMA_NLDEV_ATTR_DEV_NAME:
      case RDMA_NLDEV_ATTR_CHARDEV_NAME:
        datagram.string(type, input_.ConsumeRandomLengthString(80));
        break;
      case RDMA_NLDEV_ATTR_DEV_NODE_TYPE:
      case RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK:
        datagram.u8(type, input_.ConsumeIntegral<uint8_t>());
        break;
      case RDMA_NLDEV_ATTR_NODE_GUID:
      case RDMA_NLDEV_ATTR_CHARDEV:
      case RDMA_NLDEV_ATTR_CHARDEV_ABI:
        datagram.u64(type, input_.ConsumeIntegral<uint64_t>());
        break;
      default:
        datagram.u32(type, input_.ConsumeIntegral<uint32_t>());
        break;
    }
  }

  Bytes likely(const nlmsghdr& request) {
    bool dump = request.nlmsg_flags & NLM_F_DUMP;
    Datagram datagram;
    for (int m = input_.ConsumeIntegralInRange(1, 2); m > 0; m--) {
      bool odd = input_.ConsumeBool();
      datagram.message(odd ? input_.ConsumeIntegral<uint16_t>() : request.nlmsg_type,
                       odd    ? input_.ConsumeIntegral<uint16_t>()
                       : dump ? uint16_t{NLM_F_MULTI}
                              : uint16_t{0});
      // Everything that is looked at, unless it is left out, and then whatever there is more.
      for (uint16_t type : known_attributes)
        if (input_.ConsumeIntegralInRange(0, 15) != 0) add_right(datagram, type);
      while (input_.ConsumeBool() && input_.remaining_bytes() > 0)
        add_odd(datagram);
      if (input_.ConsumeIntegralInRange(0, 7) == 7)
        datagram.claim_message_length(input_.ConsumeIntegral<uint16_t>());
    }
    return datagram.bytes();
  }

  void add_odd(Datagram& datagram) {
    uint16_t type = input_.ConsumeBool() ? input_.PickValueInArray(known_attributes)
                                         : input_.ConsumeIntegral<uint16_t>();
    size_t length = input_.ConsumeIntegralInRange<size_t>(0, 100);
    datagram.attribute(type, input_.ConsumeBytes<uint8_t>(length));
    if (input_.ConsumeIntegralInRange(0, 3) == 3)
      datagram.claim_attribute_length(input_.ConsumeIntegral<uint16_t>());
  }

  FuzzedDataProvider input_;
};

void must(bool holds) {
  if (!holds) abort();
}

template <size_t Size>
bool is_terminated(const char (&text)[Size]) {
  return strnlen(text, Size) < Size;
}

int visit(void*, const verbs::netlink::DeviceAnswer& answer) {
  must(is_terminated(answer.name));
  return 0;
}

void query_all() {
  verbs::netlink::query_devices(visit, nullptr);
  verbs::netlink::CharacterDeviceAnswer answer;
  if (verbs::netlink::query_character_device(1, answer) == 0)
    must(is_terminated(answer.name) && answer.name[0] != '\0');
  verbs::netlink::kernel_copies_on_fork();
}

void scan() {
  // "/" has the nodes, so that every name that is a folder there passes for a device.
  const verbs::Places places{"/nowhere", "/"};
  verbs::Records records;
  verbs::scan_netlink(places, records);
  for (const verbs_sysfs_dev* record : records) {
    must(is_terminated(record->ibdev_name) && is_terminated(record->sysfs_name));
    must(is_terminated(record->ibdev_path) && strchr(record->ibdev_name, '/') == nullptr);
    must(strncmp(record->ibdev_path, "/nowhere/class/infiniband/", 26) == 0);
  }
  verbs::free_records(records);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Script script(data, size);
  scripted::set_kernel([&](const nlmsghdr& request) { return script.answer(request); });
  if (size & 1)
    scan();
  else
    query_all();
  scripted::set_kernel({});
  return 0;
}
