# shellcheck shell=bash disable=SC2034,SC2154
# Shell functions of tools/weft, tools/test and .ci/run: Debian packages and builds. Source it with $root set.
# Everything here speaks on stderr only.

program_packages=(cmake ninja-build g++ libboost-graph-dev libboost-program-options-dev nlohmann-json3-dev
                  libfmt-dev zlib1g-dev libsqlite3-dev libeigen3-dev libyaml-cpp-dev libpugixml-dev libtomlplusplus-dev)
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

# need_packages NAME...: installs what is missing (as root), or says how to and exits with 3.
need_packages() {
    local missing log=$root/build/packages.log
    if ! command -v dpkg-query >/dev/null; then
        say "not a Debian system: make sure that you have the equivalents of $*"
        return
    fi
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]})) || return 0
    if ((EUID != 0)); then
        say "packages are missing; please run"
        printf '    sudo apt-get install -y --no-install-recommends %s\n' "${missing[*]}" >&2
        exit 3
    fi
    say "installing Debian packages: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    run_logged "$log" apt-get -o DPkg::Lock::Timeout=300 update || exit 3
    run_logged "$log" apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}" || exit 3
}

# configure FOLDER ARGUMENT...: CMake into build/FOLDER with Ninja, and with ccache where there is one.
configure() {
    local folder=$1 launcher=()
    shift
    command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
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
