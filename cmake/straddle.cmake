# Functions that every folder's CMakeLists.txt is written with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# What all of our own code is compiled with; nothing of it reaches a library of others.
add_library(straddle_options INTERFACE)
target_compile_features(straddle_options INTERFACE cxx_std_20)
target_compile_options(straddle_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                                                  -Wcast-align -Wformat=2 -Werror)
# g++ 12 sees an overlap inside std::string's own copy of a short literal (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(straddle_options INTERFACE -Wno-restrict)
endif()
if(STRADDLE_SANITIZER)
  target_compile_options(straddle_options INTERFACE -fsanitize=${STRADDLE_SANITIZER} -fno-omit-frame-pointer
                                                    -fno-sanitize-recover=all)
  target_link_options(straddle_options INTERFACE -fsanitize=${STRADDLE_SANITIZER})
endif()

# Code that is mostly floating-point loops: src/cpu and src/reference. Other flags here would change no result of another layer.
add_library(straddle_numeric_options INTERFACE)
target_compile_options(straddle_numeric_options INTERFACE -O3 -march=native -mtune=generic)

# straddle_layer(NAME SOURCES a.cpp .. LINKS straddle::x ..): a layer, the folder src/NAME. Only who links straddle::NAME can include
# "NAME/..", since each layer has an include root of its own: that is how the arrows between folders are enforced.
function(straddle_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  set(root ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${root}/${name} SYMBOLIC)
  if(arg_SOURCES)
    add_library(straddle_${name} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(straddle_${name} PRIVATE straddle_options)
  else()
    add_library(straddle_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(straddle_${name} ${scope} ${root})
  target_link_libraries(straddle_${name} ${scope} ${arg_LINKS})
  add_library(straddle::${name} ALIAS straddle_${name})
endfunction()

# straddle_add_test(NAME SOURCES a_test.cpp .. LINKS straddle::x .. [TIMEOUT s] [PROCESSORS n] [LABELS ..]): a doctest program.
function(straddle_add_test name)
  cmake_parse_arguments(arg "" "TIMEOUT;PROCESSORS" "SOURCES;LINKS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE straddle_options straddle_doctest_main ${arg_LINKS})
  # Without the second, CHECK_THROWS of a [[nodiscard]] function is a warning.
  target_compile_definitions(${name} PRIVATE STRADDLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             DOCTEST_CONFIG_VOID_CAST_EXPRESSIONS)
  add_test(NAME ${name} COMMAND ${name} --no-intro WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  straddle_test_properties(${name} "${arg_TIMEOUT}" "${arg_PROCESSORS}" "${arg_LABELS}")
endfunction()

# straddle_add_mpi_test(NAME RANKS n COMMAND program args.. [TIMEOUT s] [LABELS ..]): real mpirun with n real processes.
function(straddle_add_mpi_test name)
  cmake_parse_arguments(arg "" "RANKS;TIMEOUT" "COMMAND;LABELS" ${ARGN})
  add_test(NAME ${name}
           COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe --bind-to none -np ${arg_RANKS} ${arg_COMMAND}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  straddle_test_properties(${name} "${arg_TIMEOUT}" 2 "mpi;${arg_LABELS}")
  set_tests_properties(${name} PROPERTIES ENVIRONMENT
                       "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_btl_vader_single_copy_mechanism=none")
endfunction()

function(straddle_test_properties name timeout processors labels)
  if(NOT timeout)
    set(timeout 300)
  endif()
  if(NOT processors)
    set(processors 1)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} PROCESSORS ${processors} LABELS "${labels}")
endfunction()
