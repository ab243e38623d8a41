"""Runs the tests and says of each, in a line of JSON, how it went: ``python3 run.py [module …]``."""

from __future__ import annotations

import faulthandler
import json
import sys
import time
import unittest
from pathlib import Path

here = Path(__file__).parent
sys.path[:0] = [str(here.parent / "src"), str(here)]


class Told(unittest.TestResult):
    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.begun_at = time.monotonic()

    def addSuccess(self, test: unittest.TestCase) -> None:
        self._tell(test, None)

    def addError(self, test: unittest.TestCase, err: object) -> None:
        self._tell(test, self._exc_info_to_string(err, test))  # type: ignore[attr-defined]

    addFailure = addError

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self._tell(test, f"skipped: {reason}")

    def _tell(self, test: unittest.TestCase, error: str | None) -> None:
        seconds = round(time.monotonic() - getattr(self, "begun_at", time.monotonic()), 2)
        print(json.dumps({"test": test.id(), "error": error, "seconds": seconds}), flush=True)


# A test that hangs prints its stack.
faulthandler.dump_traceback_later(570, exit=True)
names = sys.argv[1:] or sorted(path.stem for path in here.glob("test_*.py"))
unittest.defaultTestLoader.loadTestsFromNames(names).run(Told())
