"""Folders that are applied."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import async_client, client

from vestra import ApplyError
from vestra._apply.service_file import read_service_file, read_yaml

EXAMPLES = Path(os.environ["VESTRA_EXAMPLES"])


def names(changes: Any) -> list[str]:
    return [f"{each.kind} {each.action} {each.name}" for each in changes if each.kind != "notebook"]


class Folders(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def folder(self, **files: str | bytes) -> Path:
        for name, content in files.items():
            path = self.root / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return self.root

    async def test_are_applied_with_what_lies_beside_the_file_and_then_only_what_has_changed(self) -> None:
        folder = self.root / "support-desk"
        shutil.copytree(EXAMPLES / "support-desk", folder)
        with client() as vestra:
            told: list[str] = []
            dry = vestra.apply(folder, dry_run=True)
            first = vestra.apply(folder, promote="no", on_progress=lambda step: told.append(step.type))
            self.assertEqual(
                names(first.uploaded),
                ["skill created returns", "document created care.md", "document created returns-policy.md"],
            )
            self.assertEqual((dry.answer, dry.uploaded), (None, first.uploaded))
            self.assertTrue(dry.plan.creates_version)
            self.assertIn("instructions", [change.path for change in dry.plan.changed])
            self.assertEqual((first.answer.slug, first.answer.created), ("support-desk", True))
            self.assertEqual((told[0], told[-1]), ("read", "applied"))
        async with async_client() as vestra:
            again = await vestra.apply(folder, promote="no")
            self.assertEqual((again.uploaded, again.answer.changed), ([], []))
            (folder / "knowledge/care.md").write_text("# Care\n\nWash by hand.\n")
            (folder / "knowledge/returns-policy.md").unlink()
            changed = await vestra.apply(folder, promote="no")
            self.assertEqual(
                names(changed.uploaded), ["document deleted returns-policy.md", "document replaced care.md"]
            )

    def test_with_pages_and_scripts_are_read_as_they_are_meant(self) -> None:
        folder = self.folder(
            **{
                "service.yaml": "name: python-whole\nknowledge: [notes, care.html]\ncomputer: { setup: ./setup.sh }\n",
                "notes__a.md": "\ufeff# A\n",
                "notes__.env": "SECRET=1",
                "notes__picture.png": b"\x89PNG\0",
                "care.html": "<h1>Care</h1>",
                "setup.sh": "echo ready\n",
            }
        )
        with client() as vestra:
            first = vestra.apply(folder, promote="no")
            self.assertEqual(names(first.uploaded), ["document created a.md", "document created care.html"])
            self.assertEqual([each.path for each in first.skipped], ["notes/picture.png"])
            self.assertEqual(first.answer.version.manifest.environment.setup, "echo ready\n")
            # Only the service can tell whether the page has changed.
            self.assertEqual(vestra.apply(folder, promote="no").uploaded, [])

    def test_with_files_for_the_computer_upload_each_content_once(self) -> None:
        folder = self.folder(
            **{
                "service.yaml": (
                    "name: python-files\ncomputer:\n  files:\n"
                    "    - from: ./data/prices.csv\n      path: prices.csv\n"
                    "    - { from: data/rules.txt, path: rules.txt }\n"
                ),
                "data__prices.csv": "tea,4\n",
                "data__rules.txt": b"\xff\xfe binary",
            }
        )
        with client() as vestra:
            dry = vestra.apply(folder, dry_run=True)
            self.assertEqual(names(dry.uploaded), ["file created data/prices.csv", "file created data/rules.txt"])
            self.assertTrue(dry.plan.creates_version)
            self.assertNotIn("computer.files", [change.path for change in dry.plan.changed])
            first = vestra.apply(folder, promote="no")
            self.assertEqual(first.uploaded, dry.uploaded)
            stored = first.answer.version.manifest.environment.files
            self.assertEqual([file.path for file in stored], ["prices.csv", "rules.txt"])
            again = vestra.apply(folder, promote="no")
            self.assertEqual((again.uploaded, again.answer.changed), ([], []))
            (folder / "data/prices.csv").write_text("tea,5\n")
            changed = vestra.apply(folder, promote="no")
            self.assertEqual(names(changed.uploaded), ["file created data/prices.csv"])
            kept = changed.answer.version.manifest.environment.files
            self.assertEqual(kept[1].sha256, stored[1].sha256)
            self.assertNotEqual(kept[0].sha256, stored[0].sha256)

    def test_with_a_bad_file_for_the_computer_are_refused_with_its_line(self) -> None:
        folder = self.folder(
            **{
                "service.yaml": (
                    "name: python-bad-files\nlanguage: klingon?\ncomputer:\n  files:\n"
                    "    - { from: gone.csv, path: a.csv }\n"
                    "    - { from: data, path: b.csv }\n"
                    "    - { from: ../out.csv, path: c.csv }\n"
                    "    - { from: good.csv, path: d.csv }\n"
                ),
                "data__x.csv": "x",
                "good.csv": "x",
            }
        )
        with client() as vestra:
            problems = self.problems(vestra, folder, dry_run=True)
            self.assertEqual(
                sorted((each["line"], each["param"]) for each in problems),
                [
                    (2, "language"),
                    (5, "computer.files.0.from"),
                    (6, "computer.files.1.from"),
                    (7, "computer.files.2.from"),
                ],
            )
            self.assertEqual([file for file in vestra.files.list() if file.filename == "good.csv"], [])

    def test_with_a_bad_path_on_the_computer_are_refused_by_the_plan(self) -> None:
        folder = self.folder(
            **{
                "service.yaml": (
                    "name: python-bad-paths\ncomputer:\n  files:\n"
                    "    - { from: good.csv, path: ../x }\n"
                    "    - { from: good.csv, path: a.csv }\n"
                    "    - { from: good.csv, path: 5 }\n"
                    "    - { from: other.csv, path: ./a.csv }\n"
                    '    - { from: "a\\u202efdp.exe", path: b.csv }\n'
                ),
                "good.csv": "x",
                "other.csv": "y",
                "a\u202efdp.exe": "z",
            }
        )
        with client() as vestra:
            self.assertEqual(
                sorted((each["line"], each["param"]) for each in self.problems(vestra, folder, dry_run=True)),
                [
                    (4, "computer.files.0.path"),
                    (6, "computer.files.2.path"),
                    (7, "computer.files.3"),
                    (8, "computer.files.4.from"),
                ],
            )
            (folder / "service.yaml").write_text(
                "name: python-bad-paths\ncomputer:\n  files:\n"
                "    - { from: good.csv, path: a.csv }\n    - { from: good.csv, path: a.csv }\n"
            )
            self.assertEqual(names(vestra.apply(folder, promote="no").uploaded), ["file created good.csv"])

    def test_with_broken_skills_are_refused_with_file_and_line_before_anything_is_sent(self) -> None:
        for head, line, why in (
            ("name: Bad Name\ndescription: x", 2, "`name` is 1 to 64"),
            ("name: good", 1, "`description` is missing"),
            ("name: good\nother: 1\ndescription: 5", 4, "`description` must be text"),
            ("name: good\ndescription: [", 3, "not plain YAML"),
            (f"name: good\ndescription: {'x' * 1025}", 3, "`description` is 1 to 1024"),
        ):
            self.folder(
                **{
                    "service.yaml": "name: python-skills\nskills: ./one\n",
                    "one__SKILL.md": f"---\n{head}\n---\nText.\n",
                }
            )
            with client() as vestra:
                (problem,) = self.problems(vestra, self.root, dry_run=True)
                self.assertEqual((problem["file"], problem["line"]), ("one/SKILL.md", line), head)
                self.assertIn(why, problem["message"])
                self.assertEqual([each for each in vestra.skills.list() if each.slug.startswith("python-skills")], [])

    def test_with_problems_are_refused_with_their_lines_before_anything_is_sent(self) -> None:
        self.folder(
            **{
                "service.yaml": "name: python-broken\nskills:\n  - ./skills\n  - ../outside\nknowledge:\n  - gone.md\n  - .env\n",
                "skills__one__SKILL.md": "no frontmatter",
                ".env": "SECRET=1",
            }
        )
        (self.root / "out").symlink_to("/etc")
        with client() as vestra:
            self.assertEqual(
                [(each["file"], each["line"]) for each in self.problems(vestra, self.root)],
                [("skills/one/SKILL.md", 1), ("service.yaml", 4), ("service.yaml", 6), ("service.yaml", 7)],
            )
            for written, why in (
                ("out", "is a link that leads out"),
                ("out/passwd", "is a link that leads out"),
                ("/etc/passwd", "is not below the folder"),
                (".", "not this one itself"),
            ):
                (self.root / "service.yaml").write_text(f"name: python-broken\nknowledge: {written}\n")
                (problem,) = self.problems(vestra, self.root)
                self.assertEqual(problem["line"], 2)
                self.assertIn(why, problem["message"])
            # A fault from the service has the line of the named field.
            self.folder(
                **{
                    "service.yaml": "name: python-broken\nknowledge: a.md\nlanguage: klingon?\nmodel: none\n",
                    "a.md": "# A",
                }
            )
            refused = self.problems(vestra, self.root)
            self.assertEqual([(each["line"], each["param"]) for each in refused], [(3, "language"), (4, "model")])
            self.assertEqual(len([each for each in vestra.notebooks.list() if "broken" in each.slug]), 0)
            self.assertEqual(self.problems(vestra, self.root, file="other.yaml")[0]["file"], "other.yaml")

    def problems(self, vestra: Any, folder: Path, **options: Any) -> Any:
        with self.assertRaises(ApplyError) as refused:
            vestra.apply(folder, **options)
        return refused.exception.problems


class Yaml(unittest.TestCase):
    def test_is_read_by_the_core_schema(self) -> None:
        text = "a: no\nb: 12:30\nc: 2026-11-16\nd: 0o17\ne: ~\nf:\ng: yes\nh: 1_000\ni: True\nj: 1.50\nk: '5'\n1: x\nl: &x [a]\nm: *x\nn: 010\no: .5e1\n"
        self.assertEqual(
            read_yaml(text, "f"),
            {
                **{"a": "no", "b": "12:30", "c": "2026-11-16", "d": 15, "e": None, "f": None, "g": "yes"},
                **{"h": "1_000", "i": True, "j": 1.5, "k": "5", "1": "x", "l": ["a"], "m": ["a"], "n": 10, "o": 5.0},
            },
        )

    def test_merges_mappings_and_own_keys_win(self) -> None:
        text = "a: &a { x: 1, y: 2 }\nb: { <<: *a, y: 3 }\nc: { <<: [*a, { z: 4, x: 9 }] }\nd: { '<<': *a }\n"
        made = read_yaml(text, "f")
        self.assertEqual(made["b"], {"x": 1, "y": 3})
        self.assertEqual(made["c"], {"x": 1, "y": 2, "z": 4})
        self.assertEqual(made["d"], {"<<": {"x": 1, "y": 2}})

    def test_has_the_line_of_a_merged_field_and_of_a_bad_byte(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "service.yaml"
            path.write_text("name: desk\ntools:\n  - &a\n    function: x\n    timeout_s: 5\n  - <<: *a\n    function: y\n")
            problem_at = read_service_file(Path(folder), "service.yaml").problem_at
            self.assertEqual([problem_at(f"tools.1.{name}", "No.")["line"] for name in ("timeout_s", "function")], [5, 7])
            path.write_bytes(b"name: desk\ninstructions: Gr\xfc\xdfe\n")
            with self.assertRaises(ApplyError) as refused:
                read_service_file(Path(folder), "service.yaml")
            self.assertEqual(
                str(refused.exception), "service.yaml:2:17 The file is not text in UTF-8: save it as UTF-8."
            )

    def test_that_is_broken_is_described_in_the_sentences_of_the_typescript_sdk(self) -> None:
        faults = json.loads(Path(os.environ["VESTRA_YAML_FAULTS"]).read_text())
        self.assertGreater(len(faults), 20)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "service.yaml"
            for text, expected in faults:
                path.write_text(text)
                with self.assertRaises(ApplyError) as refused:
                    read_service_file(Path(folder), "service.yaml")
                sentence, shown, mark = str(refused.exception).split("\n")[:3]
                self.assertIn(f"service.yaml:{expected}", sentence)
                line, column = map(int, expected.split(" ")[0].split(":"))
                before = "".join(each if each == "\t" else " " for each in text.split("\n")[line - 1][: column - 1])
                self.assertEqual(shown, f"  {line} | {text.split(chr(10))[line - 1]}")
                self.assertEqual(mark, f"    | {before}^")

    def test_says_where_it_is_wrong(self) -> None:
        bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
            f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi")
        )
        for text, line in (
            ("a: 1\na: 2\n", 2),
            ("a: [1\nb: 2\n", 1),
            ("a: *gone\n", 1),
            ("a: 1\nb: !!python/object:os.system x\n", 2),
            ("a: 1\n? [x]\n: y\n", 2),
            (bomb, None),
            ("a: &a [*a]\n", None),
            ("a: 1\n<<: 3\n", 2),
            ("a: &a { <<: *a }\n", None),
        ):
            with self.assertRaises(ApplyError) as refused:
                read_yaml(text, "service.yaml")
            self.assertEqual(refused.exception.problems[0]["line"], line, text[:40])
