# One function per kind of target; the warnings and the floating-point contract are one interface target.

include(WeftUnity)
include(WeftExtend)
set_property(GLOBAL PROPERTY weft_root "${PROJECT_SOURCE_DIR}")  # of the layers

add_library(weft_options INTERFACE)
target_compile_features(weft_options INTERFACE cxx_std_20)
target_compile_options(weft_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor
  -ffp-contract=off  # the same bits from every compiler: no fused multiply-add behind our back
  -fmacro-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/=  # what fails is sim/..., wherever it was built
  $<$<BOOL:${CMAKE_POSITION_INDEPENDENT_CODE}>:-fno-semantic-interposition>)  # nobody replaces our functions
if(NOT CMAKE_UNITY_BUILD)  # there, local names meet those of other files
  target_compile_options(weft_options INTERFACE -Wshadow)
endif()
option(WEFT_WERROR "Treat warnings as errors" OFF)
if(WEFT_WERROR)
  target_compile_options(weft_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns falsely about its own string inlining (GCC bug 105651), and at -O3 about the optional iterators of
  # Boost.Graph's edge lists.
  target_compile_options(weft_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
set(WEFT_SANITIZE "" CACHE STRING "Value of -fsanitize= for every target")
if(WEFT_SANITIZE)
  target_compile_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE})
endif()

# weft_library(<layer> [LINK ...] [PRIVATE_LINK ...] [COLD <folder>...]): the static library weft_<layer> of every .cpp below
# <layer>/. Folders that are COLD read and write once a run: Release builds them with -O1, in half of the time.
function(weft_library layer)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE_LINK;COLD" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${layer}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/tools/(main|library/.*|python/.*)\\.cpp$")
  set(cold "")
  if(ARG_COLD)
    list(JOIN ARG_COLD "|" folders)
    set(cold "${sources}")
    list(FILTER cold INCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${layer}/(${folders})/")
    list(REMOVE_ITEM sources ${cold})
  endif()
  add_library(weft_${layer} STATIC ${sources})
  set(targets weft_${layer})
  if(cold)
    add_library(weft_${layer}_cold OBJECT ${cold})
    target_compile_options(weft_${layer}_cold PRIVATE $<$<CONFIG:Release>:-O1>)
    target_sources(weft_${layer} PRIVATE $<TARGET_OBJECTS:weft_${layer}_cold>)
    list(APPEND targets weft_${layer}_cold)
  endif()
  foreach(target IN LISTS targets)
    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>"
                                                "$<INSTALL_INTERFACE:include/weft/extension>")
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_link_libraries(${target} PUBLIC ${ARG_LINK} PRIVATE weft_options ${ARG_PRIVATE_LINK})
    cmake_language(EVAL CODE "cmake_language(DEFER CALL weft_batches ${target})")  # with what is added to it later
  endforeach()
endfunction()

# Files of one's own are found by the same names as the shipped ones: <folder>/<kind>/*.cpp (collective, blocks, schedule,
# parallelism, framework, commands) and <folder>/<kind>/*.json (machines, devices, catalog, tuners, fabrics).
set(WEFT_EXTENSIONS "" CACHE PATH "Folder with files of your own, by kind")

# weft_registry(<layer> <folder> <Type> <header>): each <layer>/<folder>/<name>.cpp that contains a line
# `extern const <Type> <name>` (in namespace weft::<folder>) becomes an entry of weft::<folder>::all().
# The table is written from the list of files and sorted by name, so adding a file is all it takes to register it.
function(weft_registry layer folder type header)
  set_property(GLOBAL APPEND PROPERTY weft_registries "${layer}|${folder} ${type} ${header}")
  weft_write_registry(weft_${layer} ${folder} ${type} ${header} "${PROJECT_SOURCE_DIR}/${layer}" ${WEFT_EXTENSIONS})
endfunction()

# weft_embed(<layer> <name> [FROM <folder>] [ENDING <ending>]): every file of the folder (<layer>/<name> if not given)
# with the ending (json if not given) becomes an entry of weft::embedded::<name>(), sorted by name, so that the program
# needs no data path at run time.
function(weft_embed layer name)
  cmake_parse_arguments(ARG "" "FROM;ENDING" "" ${ARGN})
  if(NOT ARG_ENDING)
    set(ARG_ENDING json)
  endif()
  if(ARG_FROM)
    weft_write_embedded(weft_${layer} ${name} ${ARG_ENDING} "${PROJECT_SOURCE_DIR}/${ARG_FROM}")
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY weft_embeddings "${layer}|${name} ${ARG_ENDING}")
  set(own "")
  if(WEFT_EXTENSIONS)
    set(own "${WEFT_EXTENSIONS}/${name}")
  endif()
  weft_write_embedded(weft_${layer} ${name} ${ARG_ENDING} "${PROJECT_SOURCE_DIR}/${layer}/${name}" ${own})
endfunction()

# weft_mpi(<layer> <source>): compiles the one file that speaks MPI with WEFT_HAS_MPI and links Boost.MPI and MPI, where
# both are found and WEFT_MPI is on. The other files of the layer are compiled alike with and without.
function(weft_mpi layer source)
  if(NOT WEFT_MPI)
    return()
  endif()
  find_package(MPI COMPONENTS CXX QUIET)
  find_package(Boost 1.74 QUIET OPTIONAL_COMPONENTS mpi serialization)
  if(NOT MPI_CXX_FOUND OR NOT Boost_MPI_FOUND)
    message(STATUS "sweeps over MPI ranks: left out, MPI and Boost.MPI are not both there")
    return()
  endif()
  message(STATUS "sweeps over MPI ranks: with ${MPI_CXX_LIBRARY_VERSION_STRING}")
  set(options ${MPI_CXX_COMPILE_OPTIONS})
  foreach(folder ${MPI_CXX_INCLUDE_DIRS})
    list(APPEND options -isystem ${folder})
  endforeach()
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${options}"
                              COMPILE_DEFINITIONS "WEFT_HAS_MPI;OMPI_SKIP_MPICXX;MPICH_SKIP_MPICXX")
  target_link_libraries(weft_${layer} PRIVATE $<LINK_ONLY:Boost::mpi> $<LINK_ONLY:MPI::MPI_CXX>)
endfunction()

# weft_install(<program>): the program, and the man pages and completion scripts that it writes.
function(weft_install program)
  include(GNUInstallDirs)
  install(TARGETS ${program} COMPONENT program)
  install(CODE "
    execute_process(COMMAND \"$<TARGET_FILE:${program}>\" manual
                            \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}\"
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
endfunction()

# weft_public_library(<folder>): weft for other programs: the folder's sources on all layers as one shared library that
# shows nothing but them, and what find_package(weft) needs to find it.
function(weft_public_library folder)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  add_library(weft_public OBJECT ${sources})
  target_link_libraries(weft_public PUBLIC weft_tools PRIVATE weft_options nlohmann_json::nlohmann_json)
  add_library(weft_shared SHARED)
  target_link_libraries(weft_shared PRIVATE weft_public)
  target_link_options(weft_shared PRIVATE -Wl,--exclude-libs,ALL)
  target_include_directories(weft_shared INTERFACE $<INSTALL_INTERFACE:include>)
  target_compile_features(weft_shared INTERFACE cxx_std_20)
  set_target_properties(weft_shared PROPERTIES OUTPUT_NAME weft EXPORT_NAME weft VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  include(GNUInstallDirs)
  include(CMakePackageConfigHelpers)
  set(package "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
  install(TARGETS weft_shared EXPORT weft)
  install(FILES "${folder}/weft.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/weft")
  install(EXPORT weft FILE weftTargets.cmake NAMESPACE weft:: DESTINATION "${package}")
  write_basic_package_version_file("${CMAKE_BINARY_DIR}/weftConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_SOURCE_DIR}/tools/cmake/weftConfig.cmake" "${CMAKE_BINARY_DIR}/weftConfigVersion.cmake"
          DESTINATION "${package}")
endfunction()

# weft_extension(<layer>...): what programs need that have blocks, collectives, schedules and the like of their own:
# libraries and headers of these layers, the files of each kind, and weft_extend(). Installed by
# `cmake --install <build> --component extension`; find_package(weft COMPONENTS extension) asks for it.
function(weft_extension)
  include(GNUInstallDirs)
  set(how COMPONENT extension EXCLUDE_FROM_ALL)
  set(package "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
  set(root "${CMAKE_INSTALL_INCLUDEDIR}/weft/extension")
  foreach(layer IN LISTS ARGN)
    set_target_properties(weft_${layer} PROPERTIES EXPORT_NAME ${layer})
    install(TARGETS weft_${layer} EXPORT weft_extension ARCHIVE ${how})
    install(DIRECTORY ${layer} DESTINATION "${root}" ${how} FILES_MATCHING PATTERN "*.hpp")
  endforeach()
  file(RELATIVE_PATH from_package "/${package}" "/${root}")
  string(CONCAT tables "include(\"\${CMAKE_CURRENT_LIST_DIR}/WeftExtend.cmake\")\n"
         "get_filename_component(weft_root \"\${CMAKE_CURRENT_LIST_DIR}/${from_package}\" ABSOLUTE)\n"
         "set_property(GLOBAL PROPERTY weft_root \"\${weft_root}\")\n")
  foreach(kind IN ITEMS registries embeddings)
    get_property(entries GLOBAL PROPERTY weft_${kind})
    foreach(entry IN LISTS entries)
      string(REGEX MATCH "^([a-z]+)[|]([a-z]+)" matched "${entry}")
      if(CMAKE_MATCH_1 IN_LIST ARGN)
        install(DIRECTORY ${CMAKE_MATCH_1}/${CMAKE_MATCH_2} DESTINATION "${root}/${CMAKE_MATCH_1}" ${how}
                FILES_MATCHING REGEX "[.](cpp|json)$")
        string(APPEND tables "set_property(GLOBAL APPEND PROPERTY weft_${kind} \"${entry}\")\n")
      endif()
    endforeach()
  endforeach()
  file(WRITE "${CMAKE_BINARY_DIR}/weftTables.cmake" "${tables}")
  install(TARGETS weft_options EXPORT weft_extension)
  install(EXPORT weft_extension FILE weftExtension.cmake NAMESPACE weft:: DESTINATION "${package}" ${how})
  install(FILES "${CMAKE_BINARY_DIR}/weftTables.cmake" tools/cmake/WeftExtend.cmake DESTINATION "${package}" ${how})
endfunction()
