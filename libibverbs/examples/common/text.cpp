// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "text.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace examples {

namespace {

[[gnu::format(printf, 1, 0)]] std::string format_list(const char* form, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, form, again);
  va_end(again);
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, form, arguments);
  return text;
}

}  // namespace

std::string format(const char* form, ...) {
  va_list arguments;
  va_start(arguments, form);
  std::string text = format_list(form, arguments);
  va_end(arguments);
  return text;
}

void append(std::string& text, const char* form, ...) {
  va_list arguments;
  va_start(arguments, form);
  text += format_list(form, arguments);
  va_end(arguments);
}

void complain(const char* form, ...) {
  va_list arguments;
  va_start(arguments, form);
  const std::string text = format_list(form, arguments);
  va_end(arguments);
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, text.c_str());
}

bool output_written() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  complain("the output could not be written: %s", std::strerror(errno));
  return false;
}

std::optional<std::uint64_t> number(const char* text, std::uint64_t low, std::uint64_t high) {
  const bool hex = std::strncmp(text, "0x", 2) == 0 || std::strncmp(text, "0X", 2) == 0;
  const char* digits = hex ? text + 2 : text;
  const char* allowed = hex ? "0123456789abcdefABCDEF" : "0123456789";
  if (*digits == '\0' || digits[std::strspn(digits, allowed)] != '\0') return std::nullopt;
  errno = 0;
  const std::uint64_t value = std::strtoull(digits, nullptr, hex ? 16 : 10);
  if (errno != 0 || value < low || value > high) return std::nullopt;
  return value;
}

}  // namespace examples
