# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Options of the whole build, and the flags that every target gets.

set(CXV_PARTS kernel-headers libibverbs providers/cxi tests
    CACHE STRING "Folders to build; a subset must name what its members need")
option(CXV_IN_PLACE "Find providers and their configuration in the build folder" ON)
option(CXV_WERROR "Treat warnings as errors" OFF)
set(CXV_SANITIZE "" CACHE STRING "Sanitizers for everything, for example address,undefined or thread")

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

# The build folder is usable as it is: programs in bin, libraries in lib, configuration in etc.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/static")

set(CXV_PABI 66)  # the private ABI between libibverbs and its providers
if(CXV_IN_PLACE)
  set(CXV_CONFIG_DIR "${CMAKE_BINARY_DIR}/etc/libibverbs.d")
  set(CXV_PROVIDER_DIR "${CMAKE_BINARY_DIR}/lib/libibverbs")
else()
  set(CXV_CONFIG_DIR "${CMAKE_INSTALL_FULL_SYSCONFDIR}/libibverbs.d")
  set(CXV_PROVIDER_DIR "${CMAKE_INSTALL_FULL_LIBDIR}/libibverbs")
endif()

add_compile_options(-Wall -Wextra -Wshadow -Wmissing-declarations -Wpointer-arith -Wformat=2
                    -Wno-missing-field-initializers -fno-strict-aliasing)
add_compile_options("$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>")
if(CXV_WERROR)
  add_compile_options(-Werror)
endif()
if(CXV_SANITIZE)
  # Callers are written in C, where an enumeration may hold any int; the compiler does not build on less
  # without -fstrict-enums.
  add_compile_options(-fsanitize=${CXV_SANITIZE} -fno-sanitize=enum -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CXV_SANITIZE})
endif()

find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBNL REQUIRED IMPORTED_TARGET libnl-3.0 libnl-route-3.0)
find_package(Threads REQUIRED)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
find_package(GTest REQUIRED)
include(GoogleTest)
