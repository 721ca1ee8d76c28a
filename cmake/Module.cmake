# module(NAME SOURCES ... HEADERS ... LIBRARIES ...): one folder as a static library.  What it may
# use is its line in server/layers.txt, which tools/tidy.py checks against the #include lines.
add_library(build_flags INTERFACE)
target_compile_definitions(build_flags INTERFACE _GNU_SOURCE $<$<BOOL:${FAILPOINTS}>:FAILPOINTS>)
target_compile_options(build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
  -Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings -Wformat=2 -Wundef -Wvla
  -Wimplicit-fallthrough -Wdouble-promotion
  $<$<C_COMPILER_ID:Clang>:-Wno-string-conversion>
  $<$<C_COMPILER_ID:GNU>:-Wlogical-op -Wduplicated-cond -Wno-format-truncation>
  $<$<BOOL:${WERROR}>:-Werror>)
if(SANITIZE) # -O1: fast enough to test with; gcc then sees uninitialised values that are not there
  target_compile_options(build_flags INTERFACE -fsanitize=${SANITIZE} -fno-omit-frame-pointer
    $<$<CONFIG:Debug>:-O1> $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(build_flags INTERFACE -fsanitize=${SANITIZE})
endif()

set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON) # every header has to compile on its own
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS server/layers.txt)
file(STRINGS server/layers.txt layer_lines)

function(module name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;LIBRARIES" ${ARGN})
  set(layer ${layer_lines})
  list(FILTER layer INCLUDE REGEX "^${name}( |$)")
  if(NOT layer)
    message(FATAL_ERROR "${name} has no line in server/layers.txt")
  endif()
  separate_arguments(may_use UNIX_COMMAND "${layer}")
  list(REMOVE_AT may_use 0)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH parent) # "base/arena.h", "http/router.h"
  add_library(${name} STATIC ${arg_SOURCES})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${parent} FILES ${arg_HEADERS})
  target_link_libraries(${name} PUBLIC ${may_use} build_flags PRIVATE ${arg_LIBRARIES})
endfunction()

function(unit_test module test)
  add_executable(test_${module}_${test} test_${test}.c)
  target_link_libraries(test_${module}_${test} PRIVATE ${module} PkgConfig::cmocka)
  add_test(NAME unit/${module}/${test} COMMAND test_${module}_${test})
  set_tests_properties(unit/${module}/${test} PROPERTIES LABELS unit TIMEOUT 60)
endfunction()

# thread_test(TARGET...): these programs start threads; thread_tests builds them (for the tsan
# preset), and their tests carry the label "threads".
add_custom_target(thread_tests)
function(thread_test)
  foreach(target ${ARGN})
    add_dependencies(thread_tests ${target})
  endforeach()
endfunction()

# fuzz_test(NAME SOURCES ... LIBRARIES ...): a libFuzzer program in the fuzz preset, where a short
# run over its corpus (the folder corpus/NAME) is a test.
add_custom_target(fuzz_tests)
function(fuzz_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT FUZZ)
    return()
  endif()
  add_executable(fuzz_${name} ${arg_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE ${arg_LIBRARIES})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzz_tests fuzz_${name})
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  set(options -timeout=20 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=0 -verbosity=0
    -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/)
  # The short run is the same every time: what an earlier one found is removed first.  The long one
  # looks for what nobody has seen.
  set(short ${CMAKE_CURRENT_BINARY_DIR}/short_${name})
  add_test(NAME fuzz/${name}
    COMMAND sh -c "rm -rf \"$1\" && mkdir \"$1\" && shift && exec \"$@\"" short ${short}
      $<TARGET_FILE:fuzz_${name}> -seed=1 -runs=4000 -max_total_time=60 ${options} ${short} ${corpus})
  set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz-smoke TIMEOUT 180)
  add_test(NAME fuzz_long/${name} COMMAND fuzz_${name} -max_total_time=60 ${options}
    ${CMAKE_CURRENT_BINARY_DIR}/found_${name} ${corpus})
  set_tests_properties(fuzz_long/${name} PROPERTIES LABELS "fuzz-smoke;slow" TIMEOUT 240)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/found_${name} ${corpus})
endfunction()
