#!/usr/bin/env python3
"""sizes.py ROOT: fails on sources outside tests of more than 320 lines, and on functions of more than 60."""
import pathlib
import re
import sys

LONGEST_FILE, LONGEST_FUNCTION = 320, 60
# What has no braces of its own: comments, preprocessor lines, and literals.
OPAQUE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#[^\n]*',
                    re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def functions(text):
    """(first line, lines) of every function that stands in no other: a brace behind a parameter list."""
    text = OPAQUE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    open_scopes, inside = 0, 0  # namespaces and types around; braces since the function, table or initializer began
    begin = head_begin = 0
    is_function = False
    for position, sign in ((found.start(), found.group()) for found in re.finditer(r"[{};]", text)):
        if sign == "{":
            if inside:
                inside += 1
                continue
            head = text[head_begin:position]
            outside_parentheses = re.sub(r"\([^()]*\)", "()", re.sub(r"\([^()]*\)", "", head))
            if SCOPE.search(re.sub(r"<[^<>]*>|\([^()]*\)", "", head)) and "(" not in outside_parentheses:
                open_scopes += 1
                head_begin = position + 1
            else:
                inside, begin = 1, head_begin + len(head) - len(head.lstrip())
                is_function = ")" in head and not re.search(r"[^=!<>]=[^=]", re.sub(r"\([^()]*\)", "", head))
        elif sign == "}":
            if inside:
                inside -= 1
                if inside == 0:
                    if is_function:
                        first = text.count("\n", 0, begin) + 1
                        yield first, text.count("\n", 0, position) + 2 - first
                    head_begin = position + 1
            else:
                open_scopes -= 1
                head_begin = position + 1
        elif not inside:
            head_begin = position + 1


def main(root):
    faults = seen = found = 0
    for layer in ("sim", "models", "topologies", "workloads", "tools"):
        for path in sorted((root / layer).rglob("*.?pp")):
            text = path.read_text()
            lines = text.count("\n")
            seen += lines
            name = path.relative_to(root)
            if lines > LONGEST_FILE:
                print(f"{name}: {lines} lines, at most {LONGEST_FILE}")
                faults += 1
            for first, length in functions(text):
                found += 1
                if length > LONGEST_FUNCTION:
                    print(f"{name}:{first}: a function of {length} lines, at most {LONGEST_FUNCTION}")
                    faults += 1
    print(f"{seen} lines and {found} functions outside tests, {faults} above their sizes")
    return 1 if faults or not found else 0


sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
