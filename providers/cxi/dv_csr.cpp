// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs: registers.
#include <array>
#include <string_view>

#include "dv.hpp"
#include "ethernet/cassini_registers.hpp"
#include "mapping.hpp"

namespace cxi::dv {
namespace {

using cassini::registers;
constexpr std::size_t register_count = std::size(registers);

/// The public form of the table, by offset as the table is.
constexpr auto infos = [] {
  std::array<cxidv_csr_info, register_count> all = {};
  for (std::size_t i = 0; i < register_count; i++) {
    const cassini::Register& from = registers[i];
    all[i] = {from.name.data(), from.offset,      from.size,
              from.entries,     from.public_read, from.generations};
  }
  return all;
}();
static_assert(std::ranges::is_sorted(infos, {}, &cxidv_csr_info::offset));

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// The name without what says which NICs have the register: c_, c1_ or c2_.
std::string_view bare(std::string_view name) noexcept {
  const std::size_t prefix = name[1] == '_' ? 2 : 3;
  return {name.data() + prefix, name.size() - prefix};
}

const cxidv_csr_info* find_name(std::string_view wanted) noexcept {
  const cxidv_csr_info* found = nullptr;
  for (const cxidv_csr_info& info : infos) {
    const std::string_view name = info.name;
    if (equal(name, wanted)) return &info;
    // Where both generations have one of that name, they may differ: it takes the prefix to choose.
    if (!found && equal(bare(name), wanted)) found = &info;
  }
  return found;
}

const cxidv_csr_info* find_offset(std::uint32_t offset) noexcept {
  const cxidv_csr_info* found = nullptr;
  for (const cxidv_csr_info& info : infos) {
    if (info.offset > offset) break;
    if (offset - info.offset >= std::uint64_t{info.size} * info.entries) continue;
    // Some words have several names: the block of counters, and each counter.
    if (!found || info.size < found->size) found = &info;
  }
  return found;
}

int access(std::uint16_t method, ibv_context* ibv, std::uint32_t offset, const void* data,
           std::size_t length) noexcept {
  Context* context = nullptr;
  if (const int err = find_context(ibv, context)) return err;
  if (!data || length > UINT32_MAX) return EINVAL;
  const cxi_abi_csr_req request = {offset, static_cast<std::uint32_t>(length),
                                   reinterpret_cast<std::uintptr_t>(data)};
  Command<1> command(CXI_OBJECT_CSR, method);
  command.in(CXI_ATTR_REQ, request);
  return run(*context, command);
}

int ask_for_registers(Context& context) noexcept {
  cxi_abi_csr_map_resp answer = {};
  Command<1> command(CXI_OBJECT_CSR, CXI_METHOD_CSR_MAP);
  command.out(CXI_ATTR_RESP, answer);
  if (const int err = run(context, command)) return err;
  context.native.csr_cookie = answer.cookie;
  context.native.csr_bytes = answer.bytes;
  return 0;
}

}  // namespace

int map_registers(Context& context, volatile void*& base, std::size_t& length) noexcept {
  NativeObjects& native = context.native;
  MutexGuard guard(native.mutex);
  if (native.csr_base) return EBUSY;
  if (!native.csr_bytes)
    if (const int err = ask_for_registers(context)) return err;
  std::byte* where = nullptr;
  if (const int err = map_cookie(context.ibv.context, native.csr_cookie, native.csr_bytes, where))
    return err;
  native.csr_base = where;
  base = where;
  length = native.csr_bytes;
  return 0;
}

int unmap_registers(Context& context) noexcept {
  MutexGuard guard(context.native.mutex);
  if (!context.native.csr_base) return EINVAL;
  unmap_cookie(static_cast<std::byte*>(context.native.csr_base), context.native.csr_bytes);
  context.native.csr_base = nullptr;
  return 0;
}

}  // namespace cxi::dv

using namespace cxi;

CXIDV_EXPORT const cxidv_csr_info* cxidv_csr_by_name(const char* name) {
  const cxidv_csr_info* found = name ? dv::find_name(name) : nullptr;
  if (!found) errno = name ? ENOENT : EINVAL;
  return found;
}

CXIDV_EXPORT const cxidv_csr_info* cxidv_csr_by_offset(uint32_t offset) {
  const cxidv_csr_info* found = dv::find_offset(offset);
  if (!found) errno = ENOENT;
  return found;
}

CXIDV_EXPORT int cxidv_read_csr(ibv_context* ibv, uint32_t offset, void* data, size_t length) {
  return with_errno(dv::access(CXI_METHOD_CSR_READ, ibv, offset, data, length));
}

CXIDV_EXPORT int cxidv_write_csr(ibv_context* ibv, uint32_t offset, const void* data,
                                 size_t length) {
  return with_errno(dv::access(CXI_METHOD_CSR_WRITE, ibv, offset, data, length));
}

CXIDV_EXPORT int cxidv_map_csr(ibv_context* ibv, volatile void** base, size_t* length) {
  Context* context = nullptr;
  if (const int err = dv::find_context(ibv, context)) return with_errno(err);
  if (!base || !length) return with_errno(EINVAL);
  return with_errno(dv::map_registers(*context, *base, *length));
}

CXIDV_EXPORT int cxidv_unmap_csr(ibv_context* ibv) {
  Context* context = nullptr;
  if (const int err = dv::find_context(ibv, context)) return with_errno(err);
  return with_errno(dv::unmap_registers(*context));
}
