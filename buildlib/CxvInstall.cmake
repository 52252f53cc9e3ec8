# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What is installed works where it lies, also where cmake --install --prefix has put it.

# Installed programs use the libraries beside them, not the system's libibverbs.
if(NOT CMAKE_INSTALL_FULL_LIBDIR IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
  file(RELATIVE_PATH cxv_to_libraries "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(CMAKE_INSTALL_RPATH "$ORIGIN/${cxv_to_libraries}")
endif()

# cxv_pkg_config(source): installs the file that source, name.pc.in, describes. The prefix is known when it is
# installed; folders below the prefix follow it.
function(cxv_pkg_config source)
  get_filename_component(name "${source}" NAME_WLE)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  set(prefix "@CMAKE_INSTALL_PREFIX@")
  foreach(folder IN ITEMS LIBDIR INCLUDEDIR)
    string(TOLOWER "${folder}" variable)
    set(${variable} "${CMAKE_INSTALL_${folder}}")
    if(NOT IS_ABSOLUTE "${${variable}}")
      string(PREPEND ${variable} "\${prefix}/")
    endif()
  endforeach()
  configure_file("${source}" "${file}.in" @ONLY)
  install(CODE "configure_file(\"${file}.in\" \"${file}\" @ONLY)")
  install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
