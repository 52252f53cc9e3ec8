// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Attributes of the device and its port, beside what sysfs has of them.
#include <endian.h>
#include <infiniband/driver.h>
#include <net/if.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "checks.hpp"
#include "machine.hpp"

namespace guest {
namespace {

const std::filesystem::path port_folder = std::string(device_folder) + "/ports/1";

std::string guid_text(uint64_t guid) {
  uint64_t value = be64toh(guid);
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", value >> 48, value >> 32 & 0xffff,
                     value >> 16 & 0xffff, value & 0xffff);
}

std::string gid_text(const ibv_gid& gid) {
  std::string text;
  for (size_t i = 0; i < sizeof(gid.raw); i += 2)
    text += fmt::format("{}{:02x}{:02x}", i ? ":" : "", gid.raw[i], gid.raw[i + 1]);
  return text;
}

const std::string empty_gid = gid_text({});

std::string sysfs(const char* file) {
  return line_of(std::string(device_folder) + "/" + file).value_or("none");
}

// A GID of the port as sysfs has it.
std::string gid_of_port(int index) {
  return line_of(port_folder / "gids" / std::to_string(index)).value_or("none");
}

void check_gid_entry(Report& report, ibv_context& context, int index, const std::string& text) {
  const std::string number = std::to_string(index);
  ibv_gid_entry entry{};
  int error = ibv_query_gid_ex(&context, 1, static_cast<uint32_t>(index), &entry, 0);
  if (text == empty_gid) {
    report.equal(error, ENODATA, "GID " + number + " is empty");
    return;
  }
  if (!report.equal(error, 0, "GID " + number + " has an entry")) return;
  auto attributes = port_folder / "gid_attrs";
  std::string type = line_of(attributes / "types" / number).value_or("none");
  std::string interface = line_of(attributes / "ndevs" / number).value_or("none");
  report.equal(gid_text(entry.gid), text, "with its value");
  report.equal(entry.gid_index, static_cast<uint32_t>(index), "its index");
  report.equal(entry.port_num, 1u, "its port");
  report.equal(entry.gid_type,
               type == "RoCE v2" ? uint32_t{IBV_GID_TYPE_ROCE_V2} : uint32_t{IBV_GID_TYPE_ROCE_V1},
               "its type");
  report.equal(entry.ndev_ifindex, if_nametoindex(interface.c_str()), "and its interface");

  ibv_gid_type_sysfs name{};
  report.equal(ibv_query_gid_type(&context, 1, static_cast<unsigned>(index), &name), 0,
               "providers learn its type");
  report.equal(name == IBV_GID_TYPE_SYSFS_ROCE_V2, type == "RoCE v2", "by its name in sysfs");
}

}  // namespace

void check_device(Report& report) {
  Context context = open_device(device_name);
  if (!report.that(context != nullptr, "the device opens", strerror(errno))) return;
  ibv_device_attr attr{};
  if (!report.equal(ibv_query_device(context.get(), &attr), 0, "it can be queried")) return;
  report.equal(guid_text(attr.node_guid), sysfs("node_guid"), "the node GUID is that of sysfs");
  report.equal(guid_text(attr.sys_image_guid), sysfs("sys_image_guid"), "so is the image GUID");
  report.equal(size_t{attr.phys_port_cnt}, files_in(std::string(device_folder) + "/ports"),
               "and the number of ports");
  report.that(attr.max_qp > 0 && attr.max_cq > 0 && attr.max_mr > 0 && attr.max_pd > 0,
              "there is room for objects");

  ibv_device_attr_ex extended{};
  if (!report.equal(ibv_query_device_ex(context.get(), nullptr, &extended), 0,
                    "the extended query works"))
    return;
  report.that(memcmp(&extended.orig_attr, &attr, sizeof(attr)) == 0, "and agrees with the other");
  report.equal(extended.phys_port_cnt_ex, uint32_t{attr.phys_port_cnt}, "in the ports as well");
  const ibv_query_device_ex_input unknown{.comp_mask = 1};
  report.equal(ibv_query_device_ex(context.get(), &unknown, &extended), EINVAL,
               "unknown input is refused");
}

void check_port(Report& report) {
  Context context = open_device(device_name);
  if (!report.that(context != nullptr, "the device opens", strerror(errno))) return;
  ibv_port_attr attr{};
  if (!report.equal(ibv_query_port(context.get(), 1, &attr), 0, "port 1 can be queried")) return;
  auto same = [&](long long value, const char* file) {
    report.equal(value, number_of(port_folder / file), fmt::format("{} is that of sysfs", file));
  };
  same(attr.state, "state");
  same(attr.phys_state, "phys_state");
  same(attr.lid, "lid");
  same(attr.lmc, "lid_mask_count");
  same(attr.sm_lid, "sm_lid");
  same(attr.sm_sl, "sm_sl");
  same(attr.port_cap_flags, "cap_mask");
  report.equal(std::string(attr.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand"),
               line_of(port_folder / "link_layer").value_or("none"), "link_layer is that of sysfs");
  report.equal(static_cast<size_t>(attr.gid_tbl_len), files_in(port_folder / "gids"),
               "the GID table is as long as in sysfs");
  report.equal(size_t{attr.pkey_tbl_len}, files_in(port_folder / "pkeys"), "so is that of P_Keys");
  report.equal(static_cast<int>(attr.state), static_cast<int>(IBV_PORT_ACTIVE),
               "the port is active");
  report.equal(static_cast<int>(attr.active_mtu), static_cast<int>(IBV_MTU_1024),
               "its MTU is the largest that fits the interface");
  report.equal(ibv_query_port(context.get(), 0, &attr), EINVAL, "there is no port 0");
  report.equal(ibv_query_port(context.get(), 2, &attr), EINVAL, "and no port 2");
}

void check_gids(Report& report) {
  Context context = open_device(device_name);
  if (!report.that(context != nullptr, "the device opens", strerror(errno))) return;
  int length = static_cast<int>(files_in(port_folder / "gids"));
  std::vector<std::string> filled;
  int first_empty = -1;
  bool all_equal = true;
  for (int index = 0; index < length; index++) {
    std::string text = gid_of_port(index);
    ibv_gid gid{};
    all_equal =
        all_equal && ibv_query_gid(context.get(), 1, index, &gid) == 0 && gid_text(gid) == text;
    if (text != empty_gid) filled.push_back(text);
    bool is_first_empty = text == empty_gid && first_empty < 0;
    if (is_first_empty) first_empty = index;
    if (text != empty_gid || is_first_empty) check_gid_entry(report, *context, index, text);
  }
  report.that(all_equal, "every slot of the GID table is as in sysfs");
  report.that(filled.size() >= 2, "an address of each family has a GID");
  report.that(first_empty >= 0, "the table has empty slots");

  std::vector<ibv_gid_entry> entries(static_cast<size_t>(length));
  ssize_t count = ibv_query_gid_table(context.get(), entries.data(), entries.size(), 0);
  report.equal(count, static_cast<ssize_t>(filled.size()), "the table comes in one piece");
  for (size_t i = 0; i < filled.size() && static_cast<ssize_t>(i) < count; i++)
    report.equal(gid_text(entries[i].gid), filled[i], fmt::format("with entry {}", i));
  ssize_t too_small = ibv_query_gid_table(context.get(), entries.data(), 1, 0);
  report.equal(too_small, ssize_t{-EINVAL}, "or not at all");

  ibv_gid gid;
  ibv_gid_entry entry;
  report.equal(ibv_query_gid(context.get(), 1, length, &gid), -1, "the table has an end");
  report.equal(ibv_query_gid_ex(context.get(), 1, static_cast<uint32_t>(length), &entry, 0), EINVAL,
               "beyond which there are no entries");
  report.equal(ibv_query_gid_ex(context.get(), 7, 0, &entry, 0), EINVAL, "nor are there at port 7");
}

void check_pkeys(Report& report) {
  Context context = open_device(device_name);
  if (!report.that(context != nullptr, "the device opens", strerror(errno))) return;
  int length = static_cast<int>(files_in(port_folder / "pkeys"));
  for (int index = 0; index < length; index++) {
    __be16 pkey = 0;
    report.equal(ibv_query_pkey(context.get(), 1, index, &pkey), 0,
                 fmt::format("P_Key {} can be read", index));
    report.equal(be16toh(pkey), number_of(port_folder / "pkeys" / std::to_string(index)),
                 "and is that of sysfs");
  }
  __be16 pkey;
  report.equal(ibv_query_pkey(context.get(), 1, length, &pkey), -1, "the table has an end");
  report.equal(ibv_get_pkey_index(context.get(), 1, htobe16(0xffff)), 0, "a P_Key is found");
  report.equal(ibv_get_pkey_index(context.get(), 1, htobe16(0x1234)), -1, "another is not");
}

}  // namespace guest
