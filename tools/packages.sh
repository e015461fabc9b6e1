# shellcheck shell=bash disable=SC2034,SC2154
# Shell functions of tools/weft, tools/test and .ci/run: Debian packages and builds. Source it with $root set.
# Everything here speaks on stderr only.

program_packages=(cmake ninja-build g++ libboost-graph-dev libboost-program-options-dev nlohmann-json3-dev
                  libfmt-dev zlib1g-dev libsqlite3-dev libceres-dev libyaml-cpp-dev libpugixml-dev)
# Ubuntu 22.04 has no such package: there toml++ is installed from its sources.
[[ -e /usr/local/include/toml++/toml.hpp ]] || program_packages+=(libtomlplusplus-dev)
test_packages=("${program_packages[@]}" libgtest-dev libgmock-dev librapidcheck-dev)

say() { printf 'weft: %s\n' "$*" >&2; }

# run_logged LOG COMMAND...: its output goes to LOG; if it fails, the end of LOG is shown.
run_logged() {
    local log=$1
    shift
    "$@" >>"$log" 2>&1 </dev/null && return
    say "failed: $*"
    tail -n 40 "$log" >&2
    say "the whole log is $log"
    return 1
}

# missing_packages NAME...: those that are not installed, one per line.
missing_packages() {
    local installed name
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
    for name; do
        grep -qxF "$name installed" <<<"$installed" || printf '%s\n' "$name"
    done
}

# What other systems call the packages of the program, as far as is known: no build there is tested.
name_other_packages() {
    say "no apt-get here: nothing is installed. What the program needs is most likely called"
    cat >&2 <<'NAMES'
    dnf     cmake ninja-build gcc-c++ boost-devel json-devel fmt-devel zlib-devel sqlite-devel ceres-solver-devel yaml-cpp-devel pugixml-devel tomlplusplus-devel
    zypper  cmake ninja gcc-c++ libboost_program_options-devel libboost_graph-devel nlohmann_json-devel fmt-devel zlib-devel sqlite3-devel ceres-solver-devel yaml-cpp-devel pugixml-devel tomlplusplus-devel
    pacman  cmake ninja gcc boost nlohmann-json fmt zlib sqlite ceres-solver yaml-cpp pugixml tomlplusplus
    conda   cmake ninja cxx-compiler libboost-devel nlohmann_json fmt zlib sqlite ceres-solver yaml-cpp pugixml tomlplusplus
NAMES
}

# Whoever sits at a terminal is asked before anything is installed as root; Enter goes on.
may_install() {
    local answer
    [[ -t 0 && -t 2 ]] || return 0
    read -r -p "weft: install them as root? [Y/n] " answer
    [[ -z $answer || $answer == [Yy]* ]]
}

# need_packages NAME...: installs what is missing (as root), or says how to and exits with 3. Never with WEFT_NO_INSTALL=1.
need_packages() {
    local missing log=$root/build/packages.log
    if ! command -v dpkg-query >/dev/null; then
        name_other_packages
        return
    fi
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]})) || return 0
    say "Debian packages that are missing: ${missing[*]}"
    if ((EUID != 0)) || [[ ${WEFT_NO_INSTALL:-} == 1 ]] || ! may_install; then
        say "to install them:"
        printf '    sudo apt-get install -y --no-install-recommends %s\n' "${missing[*]}" >&2
        exit 3
    fi
    say "installing them"
    export DEBIAN_FRONTEND=noninteractive
    run_logged "$log" apt-get -o DPkg::Lock::Timeout=300 update || exit 3
    run_logged "$log" apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}" || exit 3
}

# configure FOLDER ARGUMENT...: CMake into build/FOLDER with Ninja, and with ccache where there is one, which then takes a
# file of this checkout and the same file of another for the same.
configure() {
    local folder=$1 launcher=()
    shift
    command -v ccache >/dev/null &&
        launcher=("-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_BASEDIR=$root;CCACHE_NOHASHDIR=1;ccache")
    run_logged "$root/build/build.log" cmake -G Ninja -S "$root" -B "$root/build/$folder" "${launcher[@]}" "$@"
}

# build FOLDER [TARGET...]
build() {
    local folder=$1
    shift
    run_logged "$root/build/build.log" cmake --build "$root/build/$folder" --target "${@:-all}"
}

# build_release TARGET [ARGUMENT...]: the one Release build, which tools/weft, tools/test and .ci/run share.
build_release() {
    local target=$1 stamp=$root/build/release/.up-to-date
    shift
    : >"$root/build/build.log"
    touch "$stamp.new"
    configure release --preset release "$@" && build release "$target" && mv "$stamp.new" "$stamp"
}
