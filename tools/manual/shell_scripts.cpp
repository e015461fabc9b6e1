#include "tools/manual/shell_scripts.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weft {
namespace {

// bash breaks words at "=" and ":" itself and completes what is behind them; a key that ends in "=" takes no space.
constexpr std::string_view bash = R"(# Completion of weft for bash.
_weft() {
    local line=${COMP_LINE:0:COMP_POINT} words current
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[-1]}
    mapfile -t COMPREPLY < <("${words[0]}" completion words -- "${words[@]:1}" 2>/dev/null)
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
    [[ $current == *[=:]* ]] && COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*[=:]}"}"}")
    return 0
}
complete -o default -F _weft weft
)";

constexpr std::string_view zsh = R"(#compdef weft
# Completion of weft for zsh.
_weft() {
    local -a found
    found=("${(@f)$("${words[1]}" completion words -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
    found=(${found:#})
    if (($#found == 0)); then
        _files
    elif [[ $found[1] == *= ]]; then
        compadd -Q -S '' -a found
    else
        compadd -Q -a found
    fi
}
if [[ $funcstack[1] == _weft ]]; then
    _weft "$@"
else
    compdef _weft weft
fi
)";

constexpr std::string_view fish = R"(# Completion of weft for fish.
function __weft_words
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    $program completion words -- $words "$current" 2>/dev/null
end
complete -c weft -a '(__weft_words)'
)";

constexpr std::array scripts = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"bash", bash},
    {"fish", fish},
    {"zsh", zsh},
});

}  // namespace

std::vector<std::string> shell_names() {
    std::vector<std::string> names;
    for (const auto& [name, script] : scripts) names.emplace_back(name);
    return names;
}

std::string_view completion_script(std::string_view shell) {
    return std::ranges::find(scripts, shell, &std::pair<std::string_view, std::string_view>::first)->second;
}

}  // namespace weft
