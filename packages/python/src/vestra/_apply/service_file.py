"""The deployment file, with the line of each part of it.

YAML is read by the core schema of YAML 1.2, as every other reader of these files does: PyYAML's own
rules are those of 1.1, by which ``no`` is false, ``12:30`` a number and a date no text.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from .._yaml_sentences import SENTENCES
from ..errors import ApplyError, Problem
from .problems import problem_of
from .yaml_fault import YamlFault, excerpt_at, yaml_fault

# The maximum number of nodes after every alias is expanded: a few lines can stand for billions.
_MOST_NODES = 100_000


@dataclass(frozen=True)
class ServiceFile:
    shown: str
    """As it is reached from the folder that was given."""
    folder: Path
    """Where it lies: the paths in it are read from there."""
    name: str
    content: dict[str, Any]
    problem_at: Callable[[str, str], Problem]
    """A problem at a place of the file, named as the service names it: ``tools.3.auth``."""


def read_service_file(folder: Path, file: str) -> ServiceFile:
    path = Path(os.path.abspath(folder / file))
    shown = Path(os.path.relpath(path, folder)).as_posix()
    text = _text_of(path, shown)
    root = _compose(text, shown)

    def problem_at(param: str, message: str) -> Problem:
        mark = _mark_of(root, param)
        problem = problem_of(shown, message, *((1, 1) if mark is None else (mark.line + 1, mark.column + 1)))
        problem["param"] = param
        return problem

    content = _value_of(root, shown, text)
    if not isinstance(content, dict):
        raise ApplyError([problem_at("", SENTENCES["noMapping"])])
    name = content.get("name")
    if not isinstance(name, str) or name == "":
        raise ApplyError([problem_at("name", SENTENCES["noName"])])
    return ServiceFile(shown, path.parent, name, content, problem_at)


def read_yaml(text: str, shown: str, *, merges: bool = True) -> Any:
    """The value of a text that is YAML; ``ApplyError`` says where it is none."""
    return _value_of(_compose(text, shown), shown, text, merges)


def has_alias(text: str) -> bool:
    """Whether the text, which is YAML, uses an alias."""
    yaml = _yaml()
    return any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text))


def _text_of(path: Path, shown: str) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError as error:
        raise ApplyError([problem_of(shown, SENTENCES["noFile"])]) from error
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8").split("\n")
        raise ApplyError([problem_of(shown, SENTENCES["notUtf8"], len(before), len(before[-1]) + 1)]) from error
    except OSError as error:
        raise ApplyError([problem_of(shown, f"The file cannot be read: {error}")]) from error


def _compose(text: str, shown: str) -> Any:
    yaml = _yaml()
    text = text.removeprefix("\ufeff")
    try:
        return yaml.compose(text, Loader=_loader(yaml))
    except yaml.MarkedYAMLError as error:
        fault = yaml_fault(text, error)
        if fault is None:
            raise ApplyError([problem_of(shown, f"The file is not YAML: {error}")]) from error
        problem = problem_of(shown, fault.message, fault.line, fault.column)
        problem["excerpt"] = excerpt_at(text, fault)
        raise ApplyError([problem]) from error
    except yaml.YAMLError as error:
        raise ApplyError([problem_of(shown, f"The file is not YAML: {error}")]) from error


def _yaml() -> Any:
    try:
        import yaml
    except ImportError as error:
        raise ImportError("Applying a folder needs PyYAML: pip install 'vestra[apply]'") from error
    return yaml


def _loader(yaml: Any) -> Any:
    """The core schema: what a plain word may be besides text."""
    tag = "tag:yaml.org,2002:"

    class CoreLoader(yaml.SafeLoader):  # type: ignore[misc]
        yaml_implicit_resolvers: dict[str, Any] = {}

    def add(name: str, pattern: str, first: str) -> None:
        CoreLoader.add_implicit_resolver(tag + name, re.compile(rf"(?:{pattern})\Z"), list(first))

    add("null", r"~|null|Null|NULL|", "~nN")
    CoreLoader.add_implicit_resolver(tag + "null", re.compile(r"\Z"), [""])
    add("bool", r"true|True|TRUE|false|False|FALSE", "tTfF")
    add("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789")
    add(
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    )
    return CoreLoader


def _value_of(root: Any, shown: str, text: str, merges: bool = True) -> Any:
    yaml = _yaml()
    problems: list[Problem] = []
    count = 0

    def place_of(node: Any) -> tuple[int, int]:
        return node.start_mark.line + 1, node.start_mark.column + 1

    def fault(node: Any, message: str) -> None:
        found = YamlFault(*place_of(node), message)
        problem = problem_of(shown, message, found.line, found.column)
        problem["excerpt"] = excerpt_at(text, found)
        problems.append(problem)

    def value(node: Any, above: tuple[int, ...]) -> Any:
        nonlocal count
        count += 1
        if count > _MOST_NODES or id(node) in above:
            raise ApplyError([problem_of(shown, SENTENCES["manyAliases"])])
        above = (*above, id(node))
        if isinstance(node, yaml.SequenceNode) and node.tag.endswith(":seq"):
            return [value(each, above) for each in node.value]
        if isinstance(node, yaml.MappingNode) and node.tag.endswith(":map"):
            made: dict[str, Any] = {}
            merged: dict[str, Any] = {}
            for key, each in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    fault(key, SENTENCES["keyNotText"])
                    continue
                if merges and _is_merge(key):
                    sources = value(each, above)
                    for source in sources if isinstance(sources, list) else [sources]:
                        if not isinstance(source, dict):
                            fault(key, SENTENCES["badMerge"])
                            continue
                        merged = {**source, **merged}
                    continue
                if key.value in made:
                    fault(key, SENTENCES["twice"].format(key=key.value))
                made[key.value] = value(each, above)
            return {**merged, **made}
        if isinstance(node, yaml.ScalarNode):
            try:
                return _scalar(node)
            except ValueError:
                pass
        fault(node, SENTENCES["tag"].format(tag=node.tag.replace("tag:yaml.org,2002:", "!!")))
        return None

    made = None if root is None else value(root, ())
    if problems:
        raise ApplyError(problems)
    return made


def _is_merge(key: Any) -> bool:
    return bool(key.value == "<<" and key.style is None)


def _scalar(node: Any) -> Any:
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    text: str = node.value
    if kind == "str" or kind == "!":
        return text
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    if kind == "int":
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if kind == "float":
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    raise ValueError(kind)


def _merged_with(node: Any, rest: str) -> Any:
    """The mapping behind ``<<`` that has the field, at any depth."""
    yaml = _yaml()
    for key, each in node.value:
        if not isinstance(key, yaml.ScalarNode) or not _is_merge(key):
            continue
        for source in each.value if isinstance(each, yaml.SequenceNode) else [each]:
            if not isinstance(source, yaml.MappingNode):
                continue
            names = [own.value for own, _ in source.value if isinstance(own, yaml.ScalarNode)]
            if any(rest == name or rest.startswith(f"{name}.") for name in names):
                return source
            deeper = _merged_with(source, rest)
            if deeper is not None:
                return deeper
    return None


def _mark_of(root: Any, param: str) -> Any:
    """The position of the named part, or of its closest existing parent. A field begins with its key."""
    if root is None:
        return None
    yaml = _yaml()
    node, mark, rest = root, root.start_mark, param
    while rest != "":
        if isinstance(node, yaml.MappingNode):
            # A key may hold dots itself, as `shipping.track` does under `tool_results`: the longest that fits is meant.
            fitting = [
                (key, value)
                for key, value in node.value
                if isinstance(key, yaml.ScalarNode) and (rest == key.value or rest.startswith(f"{key.value}."))
            ]
            if not fitting:
                merged = _merged_with(node, rest)
                if merged is None:
                    break
                node = merged
                continue
            key, node = max(fitting, key=lambda pair: len(pair[0].value))
            mark, rest = key.start_mark, rest[len(key.value) + 1 :]
        elif isinstance(node, yaml.SequenceNode):
            index, _, after = rest.partition(".")
            if not index.isdigit() or int(index) >= len(node.value):
                break
            node, rest = node.value[int(index)], after
            mark = node.start_mark
        else:
            break
    return mark
