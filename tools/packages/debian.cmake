# Debian packages by CPack: weft (program, man pages, completion) and python3-weft (the module, where it is built).
#   cmake --preset package && cmake --build --preset package && (cd build/package && cpack)
include(GNUInstallDirs)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program)
if(WEFT_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/debian_finish.cmake")
set(CPACK_WEFT_SOURCE "${PROJECT_SOURCE_DIR}")  # for that script
set(CPACK_WEFT_RELEASED "${WEFT_RELEASED}")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The weft developers <weft@weft.invalid>")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME weft)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "How long a training step takes with a parallel layout on a machine,
where the time goes, what crosses which link, whether it fits in memory,
and which layout is better: computed in seconds, without accelerators.
.
DeepSpeed, Megatron and PyTorch are known with every call they issue;
machines and models are shipped, or read from files of other tools.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-weft)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The module for Python: jobs stay warm between calls, results are those
of the weft command, timelines are arrays, tables become data frames.")
if(WEFT_PYTHON)
  math(EXPR next "${Python3_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
      "python3 (>= ${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}~), python3 (<< ${Python3_VERSION_MAJOR}.${next})")
endif()
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-numpy, python3-pandas")

include(CPack)
