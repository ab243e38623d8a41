"""The fault to report for a text that is not YAML, in the sentences that every SDK prints.

A slip like a missing colon makes the parser report later lines, so it is looked for first.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .._yaml_sentences import SENTENCES


class YamlFault(NamedTuple):
    line: int
    column: int
    message: str


def yaml_fault(text: str, error: Any) -> YamlFault | None:
    """``error``: the one of the parser. None if it names no place."""
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return None
    lines = text.split("\n")
    found = YamlFault(mark.line + 1, mark.column + 1, "")
    context, problem = error.context or "", error.problem or ""
    if problem.startswith("found character '\\t'"):
        return found._replace(message=SENTENCES["tab"])
    if context == "while scanning a quoted scalar" and problem.startswith("found unexpected"):
        begin = error.context_mark
        quote = lines[begin.line][begin.column]
        return YamlFault(begin.line + 1, begin.column + 1, SENTENCES["openQuote"].format(quote=quote))
    slip = _slip_before(lines, found.line)
    return slip or _in_plain_words(lines, error, found) or found._replace(message=_own_words(context, problem))


def excerpt_at(text: str, fault: YamlFault) -> str:
    """The line with a mark below the column."""
    shown = text.split("\n")[fault.line - 1].rstrip("\r")[:200]
    margin = " " * len(str(fault.line))
    # Tabs stay, so that the mark is below its character at every tab width.
    before = re.sub(r"[^\t]", " ", shown[: fault.column - 1])
    return f"  {fault.line} | {shown}\n  {margin} | {before}^"


def _own_words(context: str, problem: str) -> str:
    said = ", ".join(each for each in (context, problem) if each)
    return f"{said[:1].upper()}{said[1:]}."


def _in_plain_words(lines: list[str], error: Any, found: YamlFault) -> YamlFault | None:
    context, problem = error.context or "", error.problem or ""
    shown = lines[found.line - 1] if found.line <= len(lines) else ""
    if context in ("while parsing a flow sequence", "while parsing a flow mapping"):
        begin = error.context_mark
        return _open_bracket(begin.line, begin.column, "[" if context.endswith("sequence") else "{")
    if context == "while parsing a flow node" and problem.endswith("'<stream end>'"):
        return _last_open_bracket(lines)
    if problem.startswith("mapping values are not allowed"):
        key = re.match(r"\s*(?:- +)*[^\s:][^:]*:\s+(?=\S)", shown[: found.column - 1])
        if key is not None:
            return YamlFault(found.line, key.end() + 1, SENTENCES["colonInValue"])
        return YamlFault(found.line, len(shown) - len(shown.lstrip()) + 1, SENTENCES["uneven"])
    if problem.startswith("expected <block end>, but found"):
        if problem.endswith("'<scalar>'"):
            return found._replace(message=SENTENCES["endedBefore"])
        return found._replace(column=1, message=SENTENCES["uneven"])
    if problem.startswith("sequence entries are not allowed"):
        return found._replace(message=SENTENCES["listAfterKey"])
    if problem.startswith("but found another document"):
        return found._replace(message=SENTENCES["secondDocument"])
    sign = re.match(r"found character '(.)' that cannot start", problem)
    if sign is not None:
        return found._replace(message=SENTENCES["badStart"].format(sign=sign[1]))
    escape = re.match(r"found unknown escape character '(.)'", problem)
    if escape is not None:
        return YamlFault(found.line, found.column - 1, SENTENCES["badEscape"].format(escape=f"\\{escape[1]}"))
    if problem.startswith("found undefined tag handle"):
        tag = re.match(r"\S*", shown[found.column - 1 :])
        return found._replace(message=SENTENCES["tag"].format(tag=tag[0] if tag else ""))
    if context == "while scanning a block scalar" and problem.startswith("expected chomping or indentation"):
        sign = re.match(r"[|>]", shown[error.context_mark.column :])
        return found._replace(message=SENTENCES["textAfterSign"].format(sign=sign[0] if sign else "|"))
    if problem.endswith(("but found ']'", "but found '}'")):
        return found._replace(message=SENTENCES["straySign"].format(sign=problem[-2]))
    alias = re.match(r"found undefined alias '(.*)'", problem)
    return None if alias is None else found._replace(message=SENTENCES["noAnchor"].format(name=alias[1]))


def _open_bracket(line: int, column: int, opener: str) -> YamlFault:
    closer = "]" if opener == "[" else "}"
    return YamlFault(line + 1, column + 1, SENTENCES["openBracket"].format(opener=opener, closer=closer))


def _last_open_bracket(lines: list[str]) -> YamlFault | None:
    """The last bracket that no later one on its line closes."""
    for at, line in reversed(list(enumerate(lines))):
        for column in range(len(line) - 1, -1, -1):
            if line[column] in "[{" and ("]" if line[column] == "[" else "}") not in line[column:]:
                return _open_bracket(at, column, line[column])
    return None


def _slip_before(lines: list[str], until: int) -> YamlFault | None:
    """A key without its colon, or without the space after it, up to a few lines after the parser's position."""
    block: int | None = None
    for at, raw in enumerate(lines[: until + 2]):
        line = re.sub(r"\s+#.*$", "", raw).rstrip()
        indent = len(line) - len(line.lstrip())
        if line.strip() == "" or re.match(r"\s*(#|---|\.\.\.|%)", line):
            continue
        # Text of a block scalar is not YAML.
        if block is not None and indent > block:
            continue
        block = indent if re.search(r"(:|^\s*-)\s+[|>][-+\d]*$", line) else None
        after = next((each for each in lines[at + 1 :] if each.strip() != ""), "")
        slip = _slip_in(line, indent == 0, after)
        if slip is not None:
            return YamlFault(at + 1, *slip)
    return None


def _slip_in(line: str, is_top: bool, after: str) -> tuple[int, str] | None:
    match = re.match(r"(\s*(?:- +)*)([A-Za-z_$][\w-]*)(.*)$", line)
    if match is None or re.match(r"\s*:(\s|$)", match[3]):
        return None
    before, key, rest = match.groups()
    end = len(before) + len(key) + 1
    # An address such as http://example.com is no key.
    if re.match(r":[^\s/]", rest):
        return end, SENTENCES["noSpace"].format(key=key)
    opens = rest == "" and _is_deeper(after, len(before))
    is_alone = is_top and "-" not in before and ": " not in rest
    return (end, SENTENCES["noColon"].format(key=key)) if opens or is_alone else None


def _is_deeper(line: str, indent: int) -> bool:
    depth = len(line) - len(line.lstrip())
    return depth > indent or (depth == indent and line.lstrip().startswith("- "))
