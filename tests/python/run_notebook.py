"""Runs the code cells of a notebook one after another, as a reader would, and shows what each gives."""

import ast
import json
import sys


def run(path):
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    names = {}
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"]), f"{path}, cell {number}").body
        shown = body.pop().value if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), f"cell {number}", "exec"), names)
        if shown is not None:
            value = eval(compile(ast.Expression(shown), f"cell {number}", "eval"), names)
            print(value)
            if hasattr(value, "_repr_html_"):
                assert value._repr_html_()


run(sys.argv[1])
