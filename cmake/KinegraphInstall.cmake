# What `cmake --install` writes: headers, static libraries, the command line, find_package(kinegraph) with the target
# kinegraph::kinegraph (all modules) and one target per module, and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
get_property(modules GLOBAL PROPERTY KINEGRAPH_MODULES)
get_property(links GLOBAL PROPERTY KINEGRAPH_LINKS)
list(REMOVE_DUPLICATES links)

add_library(kinegraph_all INTERFACE)
add_library(kinegraph::kinegraph ALIAS kinegraph_all)
set_target_properties(kinegraph_all PROPERTIES EXPORT_NAME kinegraph)
set(targets kinegraph_all)
set(libraries "")
foreach(module ${modules})
  target_link_libraries(kinegraph_all INTERFACE kinegraph_${module})
  list(APPEND targets kinegraph_${module})
  get_target_property(type kinegraph_${module} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    list(PREPEND libraries -lkinegraph_${module})  # the table lists what is used before who uses it; linkers want the reverse
  endif()
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/src/${module} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kinegraph
          FILES_MATCHING PATTERN "*.hpp" PATTERN "*_test.hpp" EXCLUDE)
endforeach()
install(TARGETS ${targets} EXPORT kinegraphTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET kinegraph)
  install(TARGETS kinegraph RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET kinegraph_mpi)
    install(TARGETS kinegraph_mpi LIBRARY DESTINATION lib/kinegraph)
  endif()
endif()

# Each library that a module links to: how CMake and pkg-config find it. A plain name is a library without either.
set(KINEGRAPH_FIND_DEPENDENCIES "find_dependency(Eigen3 3.4)\nfind_dependency(fmt)\n")
set(KINEGRAPH_PC_REQUIRES "eigen3 fmt")
foreach(link ${links})
  if(link STREQUAL "yaml-cpp")
    string(APPEND KINEGRAPH_FIND_DEPENDENCIES "find_dependency(yaml-cpp)\n")
    string(APPEND KINEGRAPH_PC_REQUIRES " yaml-cpp")
  elseif(link STREQUAL "nlohmann_json::nlohmann_json")
    string(APPEND KINEGRAPH_FIND_DEPENDENCIES "find_dependency(nlohmann_json)\n")
    string(APPEND KINEGRAPH_PC_REQUIRES " nlohmann_json")
  elseif(link STREQUAL "TBB::tbb")
    string(APPEND KINEGRAPH_FIND_DEPENDENCIES "find_dependency(TBB)\n")
    string(APPEND KINEGRAPH_PC_REQUIRES " tbb")
  elseif(link STREQUAL "pugixml::pugixml")
    string(APPEND KINEGRAPH_FIND_DEPENDENCIES "find_dependency(pugixml)\n")
    string(APPEND KINEGRAPH_PC_REQUIRES " pugixml")
  elseif(link STREQUAL "sdformat12::sdformat12")
    string(APPEND KINEGRAPH_FIND_DEPENDENCIES "find_dependency(sdformat12)\n")
    list(APPEND libraries -lsdformat12 -lignition-math6)  # its .pc file would demand -std=c++17
  elseif(link STREQUAL "Threads::Threads")
    string(APPEND KINEGRAPH_FIND_DEPENDENCIES "find_dependency(Threads)\n")
    list(APPEND libraries -pthread)
  elseif(link MATCHES "::")
    message(FATAL_ERROR "KinegraphInstall.cmake: say how users find ${link}")
  else()
    list(APPEND libraries -l${link})
  endif()
endforeach()

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kinegraph)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kinegraphConfig.cmake.in kinegraphConfig.cmake
                              INSTALL_DESTINATION ${config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(kinegraphConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/kinegraphConfig.cmake ${CMAKE_BINARY_DIR}/kinegraphConfigVersion.cmake
        DESTINATION ${config_dir})
install(EXPORT kinegraphTargets NAMESPACE kinegraph:: DESTINATION ${config_dir})

list(JOIN libraries " " KINEGRAPH_PC_LIBS)
file(RELATIVE_PATH KINEGRAPH_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" KINEGRAPH_PC_PREFIX ${KINEGRAPH_PC_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/kinegraph.pc.in kinegraph.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/kinegraph.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kinegraph)

# Eigen aligns its types by the instruction set: libraries tuned for this machine and programs that are not would not
# agree on the layout of a matrix.
if(KINEGRAPH_NATIVE)
  install(CODE "message(FATAL_ERROR \"a build with KINEGRAPH_NATIVE is for this machine alone: install one without\")")
endif()
