// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <charconv>

#include "refusal.hpp"
#include "resources.hpp"

namespace launcher {
namespace {

constexpr std::array<const char*, 4> class_names = {"dedicated_access", "low_latency", "bulk_data",
                                                    "best_effort"};
static_assert(CXIDV_TC_DEDICATED_ACCESS == 0 && CXIDV_TC_LOW_LATENCY == 1 &&
              CXIDV_TC_BULK_DATA == 2 && CXIDV_TC_BEST_EFFORT == 3);

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> items;
  for (;;) {
    const std::size_t comma = list.find(',');
    items.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    list.remove_prefix(comma + 1);
  }
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::uint16_t parse_vni(std::string_view text) {
  const auto number = parse_number<std::uint16_t>(text);
  if (!number || *number == 0)
    throw Refusal("--vni: " + quoted(text) + " is no VNI: name numbers from 1 to 65535");
  return *number;
}

void parse_limit(std::string_view item, Limits& limits) {
  const std::size_t equals = item.find('=');
  const std::string_view name = item.substr(0, equals);
  const auto kind = find_resource(name);
  if (!kind)
    throw Refusal("--limit: " + quoted(name) + " is no resource: there are " + resource_options());
  Limit& limit = limits[*kind];
  if (limit.named) throw Refusal("--limit: " + std::string(name) + " is named twice");
  limit.named = true;
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view{} : item.substr(equals + 1);
  limit.all = value == "max";
  if (limit.all) return;
  const auto count = parse_number<std::uint32_t>(value);
  if (!count)
    throw Refusal("--limit: say " + std::string(name) + "=NUMBER or " + std::string(name) +
                  "=max, not " + quoted(item));
  limit.count = *count;
}

class Help : public CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: cxi_launcher [OPTIONS] --vni VNIS -- PROGRAM [ARGUMENTS]\n";
  }
};

}  // namespace

Vnis parse_vnis(std::string_view text) {
  Vnis vnis;
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) {
    for (const std::string_view item : split(text)) {
      const std::uint16_t vni = parse_vni(item);
      if (std::ranges::find(vnis.list, vni) != vnis.list.end())
        throw Refusal("--vni: " + std::string(item) + " is named twice");
      vnis.list.push_back(vni);
    }
    if (vnis.list.size() > CXIDV_MAX_SVC_VNIS)
      throw Refusal("--vni: a service has at most " + std::to_string(CXIDV_MAX_SVC_VNIS) +
                    " VNIs, or one range such as 1024-1031");
    return vnis;
  }
  const std::uint16_t first = parse_vni(text.substr(0, dash));
  const std::uint16_t last = parse_vni(text.substr(dash + 1));
  const unsigned size = last >= first ? last - first + 1u : 0;
  if (!std::has_single_bit(size) || first % size != 0)
    throw Refusal("--vni: the range " + std::string(text) +
                  " must hold a power of two of VNIs and begin at a multiple of their number, "
                  "such as 1024-1031");
  vnis.range = true;
  vnis.list = {first, last};
  return vnis;
}

std::uint32_t parse_classes(std::string_view text) {
  std::uint32_t mask = 0;
  for (const std::string_view item : split(text)) {
    const auto found = std::ranges::find(class_names, item);
    if (found == class_names.end()) {
      std::string all;
      for (const char* name : class_names)
        all += (all.empty() ? "" : ", ") + std::string(name);
      throw Refusal("--tc: " + quoted(item) + " is no traffic class: there are " + all);
    }
    mask |= 1u << (found - class_names.begin());
  }
  return mask;
}

void parse_limits(std::string_view text, Limits& limits) {
  for (const std::string_view item : split(text))
    parse_limit(item, limits);
}

ParsedLine parse_command_line(int argc, const char* const* argv) {
  CLI::App app(
      "Runs a program that may use Cassini NICs: in these VNIs, traffic classes and limits.",
      "cxi_launcher");
  app.formatter(std::make_shared<Help>());
  app.prefix_command();
  ParsedLine line;
  Options& options = line.options;
  std::string vnis, classes = "best_effort";
  std::vector<std::string> limits;
  app.add_option("--device", options.devices,
                 "NICs of the grant, such as cxi0,cxi1 (default: all that there are)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--vni", vnis, "up to four VNIs, such as 5,9, or one aligned range: 1024-1031");
  app.add_option("--tc", classes,
                 "traffic classes: dedicated_access, low_latency, bulk_data, best_effort")
      ->capture_default_str();
  app.add_option("--limit", limits,
                 "so many of a resource, reserved for the program, or max: as many as the NIC has "
                 "left; such as txqs=16,eqs=max. Resources: " +
                     resource_options())
      ->allow_extra_args(false);
  app.add_option("--user", options.user, "who runs the program: a name or a number");
  app.add_option("--group", options.group, "and in which group (default: that of the user)");
  app.add_option("--keep-fd", options.keep_fds,
                 "a descriptor that the program inherits beside the standard three")
      ->allow_extra_args(false);
  app.set_version_flag("--version", std::string("cxi_launcher of cxiverbs ") + CXV_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.answer = app.help();
    return line;
  } catch (const CLI::CallForVersion&) {
    line.answer = app.version() + "\n";
    return line;
  } catch (const CLI::Error& error) {
    throw Refusal(std::string(error.what()) + "; see cxi_launcher --help");
  }
  options.program = app.remaining();
  const bool marked = !options.program.empty() && options.program.front() == "--";
  if (marked) options.program.erase(options.program.begin());
  if (!marked && !options.program.empty() && options.program.front().starts_with('-'))
    throw Refusal("there is no option " + options.program.front() + "; see cxi_launcher --help");
  if (options.program.empty())
    throw Refusal("no program: name one behind --; see cxi_launcher --help");
  if (vnis.empty()) throw Refusal("no VNI: name it with --vni, such as --vni 1024");
  options.vnis = parse_vnis(vnis);
  options.tc_mask = parse_classes(classes);
  for (const std::string& item : limits)
    parse_limits(item, options.limits);
  return line;
}

}  // namespace launcher
