// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "environment.hpp"

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace cxi {
namespace {

std::string_view next_item(std::string_view& list) noexcept {
  std::size_t length = 0;
  while (length < list.size() && list[length] != ',')
    length++;
  std::string_view item{list.data(), length};
  list.remove_prefix(length < list.size() ? length + 1 : length);
  while (!item.empty() && item.front() == ' ')
    item.remove_prefix(1);
  while (!item.empty() && item.back() == ' ')
    item.remove_suffix(1);
  return item;
}

bool parse_number(std::string_view text, std::uint32_t& value) noexcept {
  if (text.empty() || text.size() > 10) return false;
  std::uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  value = static_cast<std::uint32_t>(number);
  return number == value;
}

}  // namespace

int service_from_lists(const char* services, const char* devices, const char* device,
                       std::uint32_t& service) noexcept {
  service = 0;
  if (!services || !*services) return 0;
  std::string_view service_list = services;
  if (!devices || !*devices) {
    if (!parse_number(next_item(service_list), service)) return EINVAL;
    if (!service_list.empty()) {  // several, and nothing says which is this device's
      service = 0;
      return EINVAL;
    }
    return 0;
  }
  std::string_view device_list = devices;
  while (!device_list.empty()) {
    const bool here = next_item(device_list) == device;
    std::uint32_t number = 0;
    if (!parse_number(next_item(service_list), number)) return EINVAL;
    if (here) {
      service = number;
      return 0;
    }
  }
  return 0;
}

int service_from_environment(const char* device, std::uint32_t& service) noexcept {
  return service_from_lists(secure_getenv("SLINGSHOT_SVC_IDS"), secure_getenv("SLINGSHOT_DEVICES"),
                            device, service);
}

}  // namespace cxi
