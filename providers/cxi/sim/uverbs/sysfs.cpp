// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/sysfs.hpp"

#include <rdma/cxiverbs-abi.h>
#include <rdma/ib_user_verbs.h>

#include <cstdarg>
#include <cstdio>

#include "uverbs/limits.hpp"

namespace sim::uverbs {
namespace {

constexpr unsigned uverbs_major = 231;  // of the infiniband_verbs class

__attribute__((format(printf, 1, 2))) std::string text(const char* format, ...) {
  char buffer[256];
  va_list args;
  va_start(args, format);
  vsnprintf(buffer, sizeof buffer, format, args);
  va_end(args);
  return buffer;
}

std::string guid_text(uint64_t guid) {
  return text("%04x:%04x:%04x:%04x\n", static_cast<unsigned>(guid >> 48),
              static_cast<unsigned>(guid >> 32 & 0xffff),
              static_cast<unsigned>(guid >> 16 & 0xffff), static_cast<unsigned>(guid & 0xffff));
}

std::string gid_text(const uint8_t (&gid)[16]) {
  std::string out;
  for (unsigned i = 0; i < sizeof gid; i += 2) {
    out += text("%s%02x%02x", i ? ":" : "", gid[i], gid[i + 1]);
  }
  return out + "\n";
}

void add_port(SysfsFiles& files, const std::string& base, const NicState& nic) {
  const bool up = !nic.failed && nic.device->link_up();
  const std::string dir = base + "/ports/1";
  files.emplace_back(dir + "/state", up ? "4: ACTIVE\n" : "1: DOWN\n");
  files.emplace_back(dir + "/phys_state", up ? "5: LinkUp\n" : "3: Disabled\n");
  files.emplace_back(dir + "/rate", "400 Gb/sec (4X NDR)\n");
  files.emplace_back(dir + "/link_layer", "Ethernet\n");
  files.emplace_back(dir + "/lid", "0x0\n");
  files.emplace_back(dir + "/lid_mask_count", "0\n");
  files.emplace_back(dir + "/sm_lid", "0x0\n");
  files.emplace_back(dir + "/sm_sl", "0\n");
  files.emplace_back(dir + "/cap_mask", "0x04000000\n");
  files.emplace_back(dir + "/pkeys/0", "0xffff\n");
  for (uint32_t i = 0; i < gid_table_length; ++i) {
    uint8_t gid[16];
    nic.gid(i, gid);
    files.emplace_back(text("%s/gids/%u", dir.c_str(), i), gid_text(gid));
    files.emplace_back(text("%s/gid_attrs/types/%u", dir.c_str(), i),
                       i == gid_slingshot ? "Slingshot\n" : "UET UDP\n");
  }
}

void add_pci(SysfsFiles& files, const std::string& dir, const NicDescription& description) {
  files.emplace_back(dir + "/vendor", text("0x%04x\n", pci_vendor_id));
  files.emplace_back(dir + "/device", text("0x%04x\n", pci_device_id));
  files.emplace_back(dir + "/subsystem_vendor", text("0x%04x\n", pci_vendor_id));
  files.emplace_back(dir + "/subsystem_device", text("0x%04x\n", pci_device_id));
  files.emplace_back(dir + "/class", "0x020000\n");
  files.emplace_back(dir + "/revision", "0x00\n");
  files.emplace_back(dir + "/numa_node", "-1\n");
  files.emplace_back(dir + "/modalias",
                     text("pci:v%08Xd%08Xsv%08Xsd%08Xbc02sc00i00\n", pci_vendor_id, pci_device_id,
                          pci_vendor_id, pci_device_id));
  files.emplace_back(dir + "/uevent",
                     text("DRIVER=cxi\nPCI_CLASS=20000\nPCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%04X:%04X\n"
                          "PCI_SLOT_NAME=0000:%02x:00.0\n",
                          pci_vendor_id, pci_device_id, pci_vendor_id, pci_device_id,
                          description.minor % 64 + 0x21));
  files.emplace_back(dir + "/infiniband_verbs/" + description.uverbs,
                     "-> ../../../../infiniband_verbs/" + description.uverbs);
  files.emplace_back(dir + "/infiniband/" + description.ibdev,
                     "-> ../../../../infiniband/" + description.ibdev);
}

}  // namespace

SysfsFiles class_files() {
  return {{"class/infiniband_verbs/abi_version", text("%d\n", IB_USER_VERBS_ABI_VERSION)}};
}

SysfsFiles nic_files(const NicState& nic) {
  const NicDescription& description = nic.description;
  SysfsFiles files;
  const std::string verbs = "class/infiniband_verbs/" + description.uverbs;
  files.emplace_back(verbs + "/ibdev", description.ibdev + "\n");
  files.emplace_back(verbs + "/abi_version", text("%u\n", description.abi_version));
  files.emplace_back(verbs + "/dev", text("%u:%u\n", uverbs_major, description.minor));
  files.emplace_back(verbs + "/device", "-> ../../infiniband/" + description.ibdev + "/device");

  const std::string base = "class/infiniband/" + description.ibdev;
  files.emplace_back(base + "/node_type", "7: UNSPECIFIED\n");
  files.emplace_back(base + "/node_guid", guid_text(nic.node_guid()));
  files.emplace_back(base + "/sys_image_guid", guid_text(nic.node_guid()));
  files.emplace_back(base + "/node_desc", description.ibdev + "\n");
  files.emplace_back(base + "/fw_ver", text("%d.0.0\n", CXI_SIM_VERSION_MAJOR));
  files.emplace_back(base + "/hw_rev", "0x21\n");
  files.emplace_back(base + "/hca_type", "Cassini 2\n");
  files.emplace_back(base + "/board_id", "Software Cassini\n");
  add_port(files, base, nic);
  add_pci(files, base + "/device", description);
  return files;
}

}  // namespace sim::uverbs
