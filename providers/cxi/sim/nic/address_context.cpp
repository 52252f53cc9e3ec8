// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/address_context.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ethernet/cassini_user_defs.h"

namespace sim::nic {
namespace {

constexpr uint64_t page = 4096;
constexpr unsigned lac_shift = 53;
constexpr uint64_t window = uint64_t{1} << 51;

// Memory of programs and memory of the driver are translated by different tables, hence two
// contexts. Neither is the first one: a program that leaves the field zero is to be found out.
constexpr unsigned lac_of_guest = 1;
constexpr unsigned lac_of_pages = 2;

uint64_t page_of(uint64_t address) {
  return address & ~(page - 1);
}

// A page stays free behind each region, so that running over its end does not reach the next one.
uint64_t after(const MemoryRegion& region) {
  return page_of(region.iova + region.len + page - 1) + page;
}

}  // namespace

AddressContext::AddressContext(unsigned lac, uint64_t random) {
  // Bit 52 is beyond every user address, so an IO address is never equal to a virtual one.
  base_ =
      uint64_t{lac} << lac_shift | uint64_t{1} << 52 | ((random & (window / 2 - 1)) & ~(page - 1));
  end_ = base_ + window;
  next_ = base_;
}

std::optional<uint64_t> AddressContext::place(uint64_t va, uint64_t len) const {
  const uint64_t in_page = va % page;
  if (len > window - in_page) return std::nullopt;
  // Addresses are used again as late as possible: whoever uses one that is gone is to notice.
  if (next_ <= end_ - in_page - len) {
    const auto behind = std::ranges::lower_bound(regions_, next_, {}, &MemoryRegion::iova);
    if (behind == regions_.end() || next_ + in_page + len + page <= page_of(behind->iova))
      return next_ + in_page;
  }
  uint64_t free_from = base_;
  for (const auto& region : regions_) {
    if (free_from + in_page + len + page <= page_of(region.iova)) return free_from + in_page;
    free_from = after(region);
  }
  if (free_from > end_ - in_page - len) return std::nullopt;
  return free_from + in_page;
}

void AddressContext::add(MemoryRegion region) {
  next_ = after(region);
  const auto at = std::ranges::upper_bound(regions_, region.iova, {}, &MemoryRegion::iova);
  last_ = static_cast<size_t>(regions_.insert(at, std::move(region)) - regions_.begin());
}

bool AddressContext::remove(unsigned id) {
  const auto at = std::ranges::find(regions_, id, &MemoryRegion::id);
  if (at == regions_.end()) return false;
  regions_.erase(at);
  last_ = 0;
  return true;
}

MemoryRegion* AddressContext::find(uint64_t iova, uint64_t len, int* rc) {
  const auto holds = [&](const MemoryRegion& r) {
    return iova >= r.iova && iova - r.iova < r.len && len <= r.len - (iova - r.iova);
  };
  if (last_ < regions_.size() && holds(regions_[last_])) return &regions_[last_];
  if (iova < base_ || iova >= end_ || len > end_ - iova) {
    *rc = C_RC_ADDR_OUT_OF_RANGE;
    return nullptr;
  }
  auto at = std::ranges::upper_bound(regions_, iova, {}, &MemoryRegion::iova);
  if (at == regions_.begin() || !holds(*--at)) {
    *rc = C_RC_NO_TRANSLATION;
    return nullptr;
  }
  last_ = static_cast<size_t>(at - regions_.begin());
  return &*at;
}

int AddressContext::read(uint64_t iova, std::span<std::byte> out) {
  int rc = C_RC_OK;
  MemoryRegion* region = find(iova, out.size(), &rc);
  if (!region) return rc;
  if (!region->readable) return C_RC_PAGE_PERM_ERROR;
  const uint64_t offset = iova - region->iova;
  if (!region->memory) {
    std::memcpy(out.data(), region->pages.bytes.data() + offset, out.size());
    return C_RC_OK;
  }
  return region->memory->read(region->va + offset, out) ? C_RC_OK : C_RC_NO_TRANSLATION;
}

int AddressContext::write(uint64_t iova, std::span<const std::byte> in) {
  int rc = C_RC_OK;
  MemoryRegion* region = find(iova, in.size(), &rc);
  if (!region) return rc;
  if (!region->writable) return C_RC_PAGE_PERM_ERROR;
  const uint64_t offset = iova - region->iova;
  if (!region->memory) {
    std::memcpy(region->pages.bytes.data() + offset, in.data(), in.size());
    return C_RC_OK;
  }
  return region->memory->write(region->va + offset, in) ? C_RC_OK : C_RC_NO_TRANSLATION;
}

uint64_t AddressUnit::draw() {  // xorshift64
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_;
}

Made<Mapping> AddressUnit::map(unsigned rgid, MemoryRegion region) {
  if (region.len == 0) return {{}, EINVAL};
  if (region.va + region.len < region.va) return {{}, EOVERFLOW};
  if (rgid >= groups_.size()) groups_.resize(rgid + 1);
  const unsigned lac = region.memory ? lac_of_guest : lac_of_pages;
  auto& context = groups_[rgid].contexts[lac];
  if (!context) context = std::make_unique<AddressContext>(lac, draw());
  const auto iova = context->place(region.va, region.len);
  if (!iova) return {{}, ENOSPC};
  region.iova = *iova;
  region.id = next_id_++;
  const Mapping made{region.id, lac, *iova};
  context->add(std::move(region));
  return {made, 0};
}

void AddressUnit::unmap(unsigned rgid, unsigned id) {
  if (rgid >= groups_.size()) return;
  for (auto& context : groups_[rgid].contexts) {
    if (!context || !context->remove(id)) continue;
    return;
  }
}

void AddressUnit::forget(unsigned rgid) {
  if (rgid < groups_.size()) groups_[rgid] = {};
}

int AddressUnit::read(unsigned rgid, unsigned lac, uint64_t iova, std::span<std::byte> out) {
  if (out.empty()) return C_RC_OK;
  if (rgid >= groups_.size() || lac >= 8 || !groups_[rgid].contexts[lac]) return C_RC_INVALID_AC;
  return groups_[rgid].contexts[lac]->read(iova, out);
}

int AddressUnit::write(unsigned rgid, unsigned lac, uint64_t iova, std::span<const std::byte> in) {
  if (in.empty()) return C_RC_OK;
  if (rgid >= groups_.size() || lac >= 8 || !groups_[rgid].contexts[lac]) return C_RC_INVALID_AC;
  return groups_[rgid].contexts[lac]->write(iova, in);
}

}  // namespace sim::nic
