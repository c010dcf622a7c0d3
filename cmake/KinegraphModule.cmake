# One target per folder of src/, headers reached as "kinegraph/<module>/<file>.hpp" in the build and when installed.
include(GoogleTest)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/include/kinegraph SYMBOLIC)

# What our own compilations use and no user of the libraries ever sees.
add_library(kinegraph_options INTERFACE)
target_compile_options(kinegraph_options INTERFACE -Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ collects its garbage less often: a sixth less time for a fifth more memory (1.6 GB for the largest unit).
  target_compile_options(kinegraph_options INTERFACE --param=ggc-min-heapsize=524288 --param=ggc-min-expand=200)
endif()
if(KINEGRAPH_NATIVE)
  target_compile_options(kinegraph_options INTERFACE -march=native)
endif()
if(KINEGRAPH_PCH AND CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(kinegraph_options INTERFACE -fpch-preprocess)  # without it ccache declines precompiled headers
endif()

# What every test program sees: test/shared.hpp, the place of the sources, GoogleTest. -O1: tests are compiled more
# often than they run.
add_library(kinegraph_test_options INTERFACE)
target_compile_definitions(kinegraph_test_options INTERFACE KINEGRAPH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_compile_options(kinegraph_test_options INTERFACE $<$<CONFIG:Release>:-O1>)
if(KINEGRAPH_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Checks as calls instead of code at every access, and little optimisation: a third less time of the compiler.
  target_compile_options(kinegraph_test_options INTERFACE -Og --param=asan-instrumentation-with-call-threshold=0)
endif()
target_include_directories(kinegraph_test_options INTERFACE ${CMAKE_SOURCE_DIR})

# Precompiled once and reused by all: once for the libraries, once for the programs that test them (other flags).
if(KINEGRAPH_PCH)
  set(KINEGRAPH_COMMON_HEADERS <cmath> <functional> <map> <memory> <optional> <span> <string> <vector> <fmt/format.h>
                               <Eigen/Core> <Eigen/LU> <Eigen/QR>)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "int main() { return 0; }\n")
  add_library(kinegraph_precompiled OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(kinegraph_precompiled PRIVATE kinegraph_options Eigen3::Eigen fmt::fmt)
  target_precompile_headers(kinegraph_precompiled PRIVATE ${KINEGRAPH_COMMON_HEADERS})
  if(KINEGRAPH_TESTS)
    add_executable(kinegraph_test_precompiled EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(kinegraph_test_precompiled PRIVATE kinegraph_options kinegraph_test_options Eigen3::Eigen
                                                             fmt::fmt GTest::gtest)
    target_precompile_headers(kinegraph_test_precompiled PRIVATE ${KINEGRAPH_COMMON_HEADERS} <gtest/gtest.h>)
  endif()
endif()

# kinegraph_test(target sources… LINK libraries…): a GoogleTest program; each of its tests is one of ctest, named
# <prefix>.Suite.Test where the target is <prefix>_test. Several files are compiled as one, which each have a namespace of
# their own, called like the file.
function(kinegraph_test target)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${target} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PRIVATE ${ARG_LINK} kinegraph_options kinegraph_test_options Eigen3::Eigen fmt::fmt
                                          GTest::gtest_main)
  if(KINEGRAPH_PCH)
    target_precompile_headers(${target} REUSE_FROM kinegraph_test_precompiled)
  endif()
  string(REGEX REPLACE "_test$" "" prefix ${target})
  gtest_discover_tests(${target} TEST_PREFIX ${prefix}. NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
endfunction()

# kinegraph_processor_variants(list): sources named x_avx2.cpp and x_avx512.cpp are compiled for such processors (which
# one runs is decided at run time) and left out where there are none. They must not include library code: see
# src/linear/block_kernel.hpp.
function(kinegraph_processor_variants list)
  set(options_avx2 -mavx2 -mfma)
  set(options_avx512 -mavx512f -mavx512vl -mavx512dq -mfma)
  foreach(variant avx2 avx512)
    set(chosen ${${list}})
    list(FILTER chosen INCLUDE REGEX "_${variant}\\.cpp$")
    if(NOT chosen)
      continue()
    endif()
    string(REPLACE _${variant}.cpp .cpp plain "${chosen}")
    set_source_files_properties(${plain} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # the same names once more
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      set_source_files_properties(${chosen} PROPERTIES COMPILE_OPTIONS "${options_${variant}}"
                                                        SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
    else()
      list(REMOVE_ITEM ${list} ${chosen})
    endif()
  endforeach()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()

set_property(GLOBAL PROPERTY KINEGRAPH_MODULES "")
set_property(GLOBAL PROPERTY KINEGRAPH_LINKS "")

# kinegraph_module(name DEPENDS modules… LINK libraries…): a library of all .cpp below src/<name> but the
# tests, and a test program of all *_test.cpp. Several files are compiled as one (CMAKE_UNITY_BUILD, on in the presets: it
# is quicker), so that a name at file scope means one thing in a module.
function(kinegraph_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  kinegraph_processor_variants(sources)

  set(target kinegraph_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:kinegraph_options>)
    if(KINEGRAPH_PCH)
      target_precompile_headers(${target} REUSE_FROM kinegraph_precompiled)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(kinegraph::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include>)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} Eigen3::Eigen fmt::fmt ${ARG_LINK})
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(${target} ${scope} kinegraph_${dependency})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY KINEGRAPH_MODULES ${name})
  set_property(GLOBAL APPEND PROPERTY KINEGRAPH_LINKS ${ARG_LINK})

  if(KINEGRAPH_TESTS AND tests)
    kinegraph_test(${name}_test ${tests} LINK ${target})
  endif()
endfunction()
