// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "uverbs/handlers.hpp"

namespace sim::uverbs {
namespace {

constexpr uint32_t remote_writes = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC;
constexpr uint32_t known_access = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
                                  IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |
                                  IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_ON_DEMAND |
                                  IB_UVERBS_ACCESS_HUGETLB | IB_UVERBS_ACCESS_OPTIONAL_RANGE;
constexpr uint64_t iova_mask = (1ull << 57) - 1;
constexpr uint32_t key_mask = (1u << CXI_ABI_RKEY_SERIAL_BITS) - 1;
constexpr uint32_t indexed_serial_mask =
    (1u << (CXI_ABI_RKEY_SERIAL_BITS - CXI_ABI_RKEY_INDEX_BITS)) - 1;

uint32_t next_serial(uint32_t& counter, uint32_t mask) {
  uint32_t serial = counter & mask;
  if (serial == 0) serial = 1;
  counter = serial + 1;
  return serial;
}

int check(const Registration& wanted) {
  if (wanted.length == 0) return EINVAL;
  if (wanted.addr + wanted.length < wanted.addr) return EINVAL;
  // The NIC maps pages, so both addresses have the same place in one.
  if (((wanted.addr ^ wanted.iova) & (page_size - 1)) != 0) return EINVAL;
  if ((wanted.access & remote_writes) && !(wanted.access & IB_UVERBS_ACCESS_LOCAL_WRITE)) {
    return EINVAL;
  }
  if (wanted.access & ~known_access) return EINVAL;
  if (wanted.access & IB_UVERBS_ACCESS_ON_DEMAND) return EOPNOTSUPP;
  if (wanted.application_key && (*wanted.application_key & ~CXI_ABI_RKEY_USER_MASK)) return EINVAL;
  if (wanted.jkey && wanted.jkey->pd.get() != wanted.pd) return EINVAL;
  if (const Mr* parent = wanted.parent) {
    if (parent->pd.get() != wanted.pd || parent->from_file != wanted.from_file) return EINVAL;
    if (wanted.addr < parent->addr || wanted.addr + wanted.length > parent->addr + parent->length) {
      return EINVAL;
    }
    bool writes = wanted.access & IB_UVERBS_ACCESS_LOCAL_WRITE;
    if (writes && !(parent->access & IB_UVERBS_ACCESS_LOCAL_WRITE)) return EINVAL;
  }
  return 0;
}

// An application's key as it is, one of the driver's otherwise.
int allot_key(File& file, const Registration& wanted, Mr& mr) {
  if (wanted.application_key) {
    mr.application_key = true;
    mr.rkey64 = *wanted.application_key;
    mr.rkey = mr.rkey64 <= key_mask ? static_cast<uint32_t>(mr.rkey64) : 0;
    return 0;
  }
  if ((wanted.access & CXI_ABI_ACCESS_INDEXED) && !wanted.pd->indexed.all()) {
    unsigned index = 0;
    while (wanted.pd->indexed[index])
      ++index;
    wanted.pd->indexed.set(index);
    mr.index = index;
    uint32_t serial = next_serial(file.nic.next_indexed_key, indexed_serial_mask);
    uint32_t low = serial << CXI_ABI_RKEY_INDEX_BITS | index;
    mr.rkey64 = CXI_ABI_RKEY_DRIVER | CXI_ABI_RKEY_INDEXED | low;
    mr.rkey = CXI_ABI_RKEY32_DRIVER | CXI_ABI_RKEY32_INDEXED | low;
    return 0;
  }
  uint32_t serial = next_serial(file.nic.next_key, key_mask);
  mr.rkey64 = CXI_ABI_RKEY_DRIVER | serial;
  mr.rkey = CXI_ABI_RKEY32_DRIVER | serial;
  return 0;
}

uint64_t iova_delta(const Mr& mr) {
  // A derived region starts somewhere inside its parent's mapping.
  uint64_t io_address = mr.memory().iova() + (mr.addr - mr.memory().va());
  return (io_address - mr.iova) & iova_mask;
}

uint64_t wide_lkey(const Mr& mr) {
  return uint64_t{mr.memory().lac()} << 57 | iova_delta(mr);
}

}  // namespace

nic::Made<std::shared_ptr<FileMemory>> file_memory(Call& call, int fd, uint64_t first,
                                                   uint64_t length, bool writes) {
  const auto named = call.caller.identify(fd);
  if (!named) return {nullptr, EBADF};
  // An open device is a memory file only here.
  const auto is_it = [&](const File* file) { return file->id() == *named; };
  if (std::ranges::any_of(call.file.nic.files, is_it)) return {nullptr, EINVAL};
  const int own = call.caller.take_fd(fd);
  if (own < 0) return {nullptr, -own};
  struct stat st {};
  if (fstat(own, &st) != 0 || FileId{st.st_dev, st.st_ino} != *named) {
    close(own);
    return {nullptr, EBADF};
  }
  return FileMemory::make(own, first, length, writes);
}

namespace {

// The descriptor of a region that is not derived.
int map_region(Call& call, const Registration& wanted, Mr& mr) {
  const bool writes = wanted.access & IB_UVERBS_ACCESS_LOCAL_WRITE;
  std::shared_ptr<nic::GuestMemory> memory;
  if (wanted.fd) {
    auto file = file_memory(call, *wanted.fd, wanted.addr, wanted.length, writes);
    if (!file) return file.error;
    memory = std::move(file.value);
  } else {
    if (int error = call.caller.check_range(wanted.addr, wanted.length, writes)) return error;
    memory = call.caller.memory();
  }
  auto map = MemoryMap::of_memory(wanted.pd->lni, std::move(memory), wanted.addr, wanted.length,
                                  true, writes);
  if (!map) return map.error;
  mr.own_md = Owned(call.add(std::make_unique<MdObject>(call.file, std::move(map.value))));
  mr.md = mr.own_md.get();
  return 0;
}

void describe(const Registration& wanted, Mr& mr) {
  mr.pd = Use(wanted.pd);
  mr.jkey = Use(wanted.jkey);
  mr.addr = wanted.addr;
  mr.length = wanted.length;
  mr.iova = wanted.iova;
  mr.from_file = wanted.from_file;
  mr.access = wanted.access;
}

}  // namespace

int register_memory(Call& call, const Registration& wanted, Mr** out) {
  if (int error = check(wanted)) return error;
  File& file = call.file;
  if (file.nic.mrs >= max_mr) return ENOSPC;
  auto mr = std::make_unique<Mr>(file);
  describe(wanted, *mr);
  if (int error = allot_key(file, wanted, *mr)) return error;
  mr->lkey = next_serial(file.nic.next_local_key, key_mask);
  if (wanted.parent) {
    mr->parent = Use(wanted.parent);
    mr->md = wanted.parent->md;
  } else if (int error = map_region(call, wanted, *mr)) {
    return error;
  }
  *out = &call.add(std::move(mr));
  return 0;
}

namespace {

// What a region becomes when its description is swapped with another one's.
void exchange(Mr& a, Mr& b, bool with_key) {
  std::swap(a.pd, b.pd);
  std::swap(a.own_md, b.own_md);
  std::swap(a.md, b.md);
  std::swap(a.addr, b.addr);
  std::swap(a.length, b.length);
  std::swap(a.iova, b.iova);
  std::swap(a.access, b.access);
  if (!with_key) return;
  std::swap(a.rkey64, b.rkey64);
  std::swap(a.rkey, b.rkey);
  std::swap(a.index, b.index);
}

int check_rereg(const ib_uverbs_rereg_mr& cmd, const Mr& mr) {
  constexpr uint32_t known = rereg_translation | rereg_pd | rereg_access;
  if (cmd.flags == 0 || (cmd.flags & ~known)) return EINVAL;
  if (mr.from_file) return EOPNOTSUPP;
  // Peers reach it, others lie in it, or something of the program's is built on its descriptor.
  if (mr.uses != 0 || (mr.own_md && (*mr.own_md).uses > 1)) return EBUSY;
  return 0;
}

}  // namespace

int rereg_memory(Call& call, const ib_uverbs_rereg_mr& cmd, Mr& mr, Pd* pd) {
  if (int error = check_rereg(cmd, mr)) return error;
  Registration wanted;
  wanted.pd = pd ? pd : mr.pd.get();
  const bool moves = cmd.flags & rereg_translation;
  wanted.addr = moves ? cmd.start : mr.addr;
  wanted.length = moves ? cmd.length : mr.length;
  wanted.iova = moves ? cmd.hca_va : mr.iova;
  wanted.access = cmd.flags & rereg_access ? cmd.access_flags : mr.access;
  wanted.jkey = mr.jkey.get();
  wanted.parent = mr.parent.get();
  if (mr.application_key) wanted.application_key = mr.rkey64;
  if (int error = check(wanted)) return error;

  auto changed = std::make_shared<Mr>(call.file);
  describe(wanted, *changed);
  // The key stays, unless it says something that is no longer true.
  const bool indexed = !mr.application_key && (wanted.access & CXI_ABI_ACCESS_INDEXED);
  const bool new_key = indexed != mr.index.has_value() || (indexed && wanted.pd != mr.pd.get());
  if (new_key) {
    if (int error = allot_key(call.file, wanted, *changed)) return error;
  }
  if (wanted.parent) {
    changed->md = mr.md;
  } else if (int error = map_region(call, wanted, *changed)) {
    return error;
  }
  exchange(mr, *changed, new_key);
  call.undo([&mr, changed, new_key]() mutable {
    exchange(mr, *changed, new_key);
    changed.reset();
  });
  return 0;
}

cxi_abi_reg_mr_resp registration(const Mr& mr) {
  cxi_abi_reg_mr_resp resp{};
  resp.iova_delta = iova_delta(mr);
  resp.lac = mr.memory().lac();
  resp.md_handle = mr.md->id;
  return resp;
}

void answer_registration(Call& call, const Mr& mr) {
  call.driver_out(registration(mr));
}

int reg_mr(Call& call) {
  uint64_t access, flags;
  if (int error = call.flags(UVERBS_ATTR_REG_MR_ACCESS_FLAGS, 0xffffffff, access)) return error;
  if (int error = call.flags(
          UVERBS_ATTR_REG_MR_FLAGS,
          IB_UVERBS_REG_MR_FLAG_USER_RKEY | IB_UVERBS_REG_MR_FLAG_IDEMPOTENT_SAFE, flags)) {
    return error;
  }
  const bool by_fd = call.has(UVERBS_ATTR_REG_MR_FD) || call.has(UVERBS_ATTR_REG_MR_FD_OFFSET);
  if (by_fd == call.has(UVERBS_ATTR_REG_MR_ADDR)) return EINVAL;
  const bool own_key = flags & IB_UVERBS_REG_MR_FLAG_USER_RKEY;
  if (own_key != call.has(UVERBS_ATTR_REG_MR_REQ_RKEY64)) return EINVAL;
  if (flags & IB_UVERBS_REG_MR_FLAG_IDEMPOTENT_SAFE) return own_key ? EOPNOTSUPP : EINVAL;
  if (by_fd && !(call.has(UVERBS_ATTR_REG_MR_FD) && call.has(UVERBS_ATTR_REG_MR_FD_OFFSET))) {
    return EINVAL;
  }

  Registration wanted;
  wanted.pd = call.object<Pd>(UVERBS_ATTR_REG_MR_PD_HANDLE);
  if (by_fd) {
    wanted.fd = call.descriptor(UVERBS_ATTR_REG_MR_FD);
    wanted.from_file = call.caller.identify(*wanted.fd);
    if (!wanted.from_file) return EBADF;
  }
  wanted.addr = call.in<uint64_t>(by_fd ? UVERBS_ATTR_REG_MR_FD_OFFSET : UVERBS_ATTR_REG_MR_ADDR);
  wanted.length = call.in<uint64_t>(UVERBS_ATTR_REG_MR_LENGTH);
  wanted.iova = call.in<uint64_t>(UVERBS_ATTR_REG_MR_IOVA);
  wanted.access = static_cast<uint32_t>(access);
  if (own_key) wanted.application_key = call.in<uint64_t>(UVERBS_ATTR_REG_MR_REQ_RKEY64);
  wanted.jkey = call.object<Jkey>(UVERBS_ATTR_REG_MR_JKEY_HANDLE);
  wanted.parent = call.object<Mr>(UVERBS_ATTR_REG_MR_PARENT_MR_HANDLE);
  Mr* mr = nullptr;
  if (int error = register_memory(call, wanted, &mr)) return error;
  call.answer_handle(UVERBS_ATTR_REG_MR_HANDLE, *mr);
  call.put(UVERBS_ATTR_REG_MR_RESP_LKEY, mr->lkey);
  call.put(UVERBS_ATTR_REG_MR_RESP_RKEY, mr->rkey);
  call.put(UVERBS_ATTR_REG_MR_RESP_LKEY64, wide_lkey(*mr));
  call.put(UVERBS_ATTR_REG_MR_RESP_RKEY64, mr->rkey64);
  answer_registration(call, *mr);
  return 0;
}

int query_mr(Call& call) {
  const auto& mr = *call.object<Mr>(UVERBS_ATTR_QUERY_MR_HANDLE);
  call.put(UVERBS_ATTR_QUERY_MR_RESP_LKEY, mr.lkey);
  call.put(UVERBS_ATTR_QUERY_MR_RESP_RKEY, mr.rkey);
  call.put(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, mr.length);
  call.put(UVERBS_ATTR_QUERY_MR_RESP_IOVA, mr.iova);
  return 0;
}

}  // namespace sim::uverbs
