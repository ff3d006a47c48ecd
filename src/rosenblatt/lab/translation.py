"""What Python and the page share, written as JavaScript: ``python -m rosenblatt.lab.translation``.

The step of a rule is arithmetic, comparisons and returns, which mean the same in both languages on
float64, so its syntax tree is enough. A test holds ``assets/shared.js`` against this module.
"""

import ast
import inspect
import json
import textwrap
from dataclasses import asdict
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Any

from rosenblatt.lab import document
from rosenblatt.lab.toy_sets import TOY_SETS, toy_set
from rosenblatt.rules import RULES, ZERO_CONVENTIONS, RuleEntry, break_tie
from rosenblatt.rules.perceptron import SMALLEST

HEAD = """\
// Written by python -m rosenblatt.lab.translation from rules and lab; not to be edited.

// As Python's min and max of two: the first unless the second is really less, or more.
const least = (a, b) => (b < a ? b : a);
const most = (a, b) => (b > a ? b : a);
"""
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "===",
    ast.NotEq: "!==",
    ast.And: "&&",
    ast.Or: "||",
    ast.Not: "!",
    ast.USub: "-",
}
NAMES = {"inf": "Infinity", "nan": "NaN", "self": "this", "min": "least", "max": "most"}
NAMES |= {"sqrt": "Math.sqrt", "abs": "Math.abs"}


def function(source: Any, name: str | None = None) -> str:
    """Return a Python function that calculates, compares and chooses as a JavaScript one."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(source))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise TypeError(f"{source} is no function.")
    arguments = [argument.arg for argument in tree.args.args if argument.arg != "self"]
    body = _body(tree.body, 2, set(arguments))
    return f"{name or tree.name}({', '.join(arguments)}) {{\n{body}}}"


def _body(nodes: list[ast.stmt], indent: int, known: set[str]) -> str:
    """Return statements; names that are ``known`` are assigned to, others declared."""
    return "".join(_statement(node, indent, known) for node in nodes)


def _statement(node: ast.stmt, indent: int, known: set[str]) -> str:
    space = " " * indent
    match node:
        case ast.Expr(value=ast.Constant(value=str())):  # the docstring
            return ""
        case ast.Return(value=ast.expr() as value):
            return f"{space}return {_expression(value)};\n"
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            declared = "" if name in known else "let "
            known.add(name)
            return f"{space}{declared}{name} = {_expression(value)};\n"
        case ast.If(test=test, body=body, orelse=[]):
            inner = _body(body, indent + 2, set(known))
            return f"{space}if ({_expression(test)}) {{\n{inner}{space}}}\n"
    raise _unknown(node)


def _expression(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            text = NAMES.get(name, name)
        case ast.Constant(value=value):
            text = json.dumps(value)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            text = f"this.{name}"
        case ast.Call(func=ast.Name(id=name), args=values, keywords=[]) if name in NAMES:
            text = f"{NAMES[name]}({_list(values)})"
        case ast.Tuple(elts=values):
            text = f"[{_list(values)}]"
        case _:
            text = _operation(node)
    return text


def _operation(node: ast.expr) -> str:
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            text = f"({_expression(left)} {OPERATORS[type(op)]} {_expression(right)})"
        case ast.UnaryOp(op=op, operand=operand):
            text = f"{OPERATORS[type(op)]}({_expression(operand)})"
        case ast.BoolOp(op=op, values=values):
            text = f"({f' {OPERATORS[type(op)]} '.join(map(_expression, values))})"
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
            text = f"{_expression(left)} {OPERATORS[type(op)]} {_expression(right)}"
        case ast.IfExp(test=test, body=body, orelse=other):
            text = f"({_expression(test)} ? {_expression(body)} : {_expression(other)})"
        case _:
            raise _unknown(node)
    return text


def _list(values: list[ast.expr]) -> str:
    return ", ".join(map(_expression, values))


def _unknown(node: ast.AST) -> TypeError:
    return TypeError(f"No JavaScript is known for this line of a rule: {ast.unparse(node)}")


def _rule(entry: RuleEntry) -> str:
    rule: Any = entry.kind()
    kind, own = type(rule), rule._asdict()
    said = {"title": entry.title, "formula": entry.formula, "fixedStep": entry.fixed_step}
    said |= {"order": entry.order, "parameters": [p.name for p in entry.parameters]}
    # A parameter that is no field of the rule has a table: its value, and the fields that follow.
    tables = {p.name: _table(entry, p.name) for p in entry.parameters if p.name not in own}
    fields = {**said, "tables": tables, **own}
    names = {"target": "get target", "stops_by_itself": "get stopsByItself"}
    properties = [(getattr(kind, name), word) for name, word in names.items()]
    methods = [function(p.fget, word) for p, word in properties if isinstance(p, property)]
    methods.append(function(kind.step))
    lines = [f"{name}: {_json(value)}" for name, value in fields.items()] + methods
    return f"{{\n{_indented(''.join(f'{line},{chr(10)}' for line in lines))}}}"


def _indented(text: str) -> str:
    return textwrap.indent(text, "  ")


def _table(entry: RuleEntry, name: str) -> dict[str, dict[str, float]]:
    """Return for each choice of a parameter the fields of the rule that it decides."""
    choice: Any = document.SETTINGS[name]
    rules: dict[str, Any] = {f"{value:g}": entry.kind(**{name: value}) for value in choice.values}
    parameters = {parameter.name for parameter in entry.parameters}
    return {
        value: {k: v for k, v in rule._asdict().items() if k not in parameters and v < inf}
        for value, rule in rules.items()
    }


def _json(value: Any) -> str:
    if value == inf:
        return "Infinity"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def shared_text() -> str:
    """Return the module that the page shares with Python."""
    rules = "".join(_indented(f"{name}: {_rule(entry)},\n") for name, entry in RULES.items())
    settings = "".join(
        f"  {name}: {_json(setting._asdict())},\n" for name, setting in document.SETTINGS.items()
    )
    toys = "".join(
        f"  {_json(name)}: {_json({key: plain[key] for key in ('points', 'view')})},\n"
        for name, plain in ((name, toy_set(name).plain()) for name in TOY_SETS)
    )
    limits = {name: getattr(document, name) for name in ("MOST_POINTS", "LARGEST", "LONGEST_NAME")}
    parts = [
        HEAD,
        f"const SMALLEST = {SMALLEST!r};\n",
        f"export const ZERO_CONVENTIONS = {_json(ZERO_CONVENTIONS)};\n",
        f"export function {function(break_tie)}\n",
        f"export const RULES = {{\n{rules}}};\n",
        f"export const SETTINGS = {{\n{settings}}};\n",
        f"export const DEFAULTS = {_json(asdict(document.Document()))};\n",
        *(f"export const {name} = {value:g};\n" for name, value in limits.items()),
        f"export const MAPS = {_json(document.MAPS)};\n",
        f"export const TOYS = {{\n{toys}}};\n",
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    Path(str(files("rosenblatt.lab") / "assets" / "shared.js")).write_text(
        shared_text(), encoding="utf-8"
    )
