// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Registers. Whatever can be refused is refused before the first word is written.
#include <cerrno>
#include <vector>

#include "uverbs/native.hpp"

namespace sim::uverbs {
namespace {

constexpr uint32_t aperture_bytes = 0x28000000;  // behaviour 11.1
constexpr uint32_t word_bytes = 8;

bool is_privileged(Call& call) {
  return call.caller.credentials().cap_sys_admin;
}

int parse(Call& call, cxi_abi_csr_req& req) {
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  if (req.offset % word_bytes || req.len % word_bytes || req.len == 0 ||
      req.len > CXI_ABI_CSR_MAX_LEN || req.offset > aperture_bytes - req.len) {
    return EINVAL;
  }
  return 0;
}

}  // namespace

int csr_read(Call& call) {
  cxi_abi_csr_req req;
  if (int error = parse(call, req)) return error;
  nic::Device& device = *call.file.nic.device;
  const bool privileged = is_privileged(call);
  std::vector<uint64_t> words;
  for (uint32_t offset = req.offset; offset < req.offset + req.len; offset += word_bytes) {
    if (!privileged && !device.is_public_csr(offset)) return EPERM;
    auto word = device.read_csr(offset);
    if (!word) return word.error;
    words.push_back(word.value);
  }
  return call.caller.write(req.data_ptr, std::as_bytes(std::span(words))) ? 0 : EFAULT;
}

int csr_write(Call& call) {
  cxi_abi_csr_req req;
  if (int error = parse(call, req)) return error;
  if (!is_privileged(call)) return EPERM;
  nic::Device& device = *call.file.nic.device;
  for (uint32_t offset = req.offset; offset < req.offset + req.len; offset += word_bytes)
    if (int error = device.check_csr_write(offset)) return error;
  std::vector<uint64_t> words(req.len / word_bytes);
  if (!call.caller.read(req.data_ptr, std::as_writable_bytes(std::span(words)))) return EFAULT;
  uint32_t offset = req.offset;
  for (const uint64_t word : words) {
    if (int error = device.write_csr(offset, word)) return error;
    offset += word_bytes;
  }
  return 0;
}

// The model answers registers from what it knows at the moment: there is no memory to map.
int csr_map(Call&) {
  return EOPNOTSUPP;
}

}  // namespace sim::uverbs
