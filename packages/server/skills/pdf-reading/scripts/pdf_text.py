#!/usr/bin/env python3
"""Prints the text of a PDF page by page. Uses pdftotext where it is installed, and reads the file itself where not."""

import argparse
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from pdf_fonts import UNKNOWN  # noqa: E402
from pdf_objects import Document, Unreadable  # noqa: E402
from pdf_page import Page  # noqa: E402


def main():
    arguments = read_arguments()
    try:
        with open(arguments.file, "rb") as file:
            data = file.read()
        pages, notes = read_pages(arguments, data)
    except OSError as error:
        print(f"{arguments.file} cannot be opened: {error.strerror}.", file=sys.stderr)
        return 1
    except (Unreadable, RecursionError) as problem:
        message = "The PDF is nested too deeply to be read." if isinstance(problem, RecursionError) else problem
        print(message, file=sys.stderr)
        return 1
    chosen = choose(arguments.pages, len(pages))
    if arguments.find:
        found = print_matches(pages, chosen, arguments.find)
        notes.append(f"{found} lines hold {arguments.find!r}")
    else:
        for number in chosen:
            print(f"--- page {number} of {len(pages)} ---\n{pages[number - 1]}\n")
    empty = [number for number in chosen if not pages[number - 1].strip()]
    if empty:
        notes.append(f"no text on {listed(empty)}: probably scanned images, which need a picture of the page to be read")
    for note in notes:
        print(f"Note: {note}.")
    return 0


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--pages", help="such as 3, 2-5 or 1,4-6; absent: all")
    parser.add_argument("--layout", action="store_true", help="keep columns and gaps as on the page: for tables and forms")
    parser.add_argument("--find", help="print only the lines that hold this text, with their pages")
    parser.add_argument("--engine", choices=["auto", "pdftotext", "own"], default="auto", help="absent: pdftotext if installed")
    return parser.parse_args()


def read_pages(arguments, data):
    if b"%PDF-" not in data[:1024]:
        raise Unreadable(f"{arguments.file} is no PDF file.")
    if arguments.engine == "pdftotext" or (arguments.engine == "auto" and shutil.which("pdftotext")):
        pages = run_pdftotext(arguments)
        if pages is not None:
            return pages, ["read by pdftotext"]
        if arguments.engine == "pdftotext":
            raise Unreadable("pdftotext is not installed or could not read the file: run without --engine.")
    return read_ourselves(data, arguments.layout)


def run_pdftotext(arguments):
    command = ["pdftotext", "-enc", "UTF-8", *(["-layout"] if arguments.layout else []), arguments.file, "-"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    return [page.rstrip() for page in done.stdout.decode("utf-8", errors="replace").split("\f")[:-1]]


def read_ourselves(data, layout):
    document = Document(data)
    fields = document.pages()
    if not fields:
        raise Unreadable("No pages were found: the PDF is damaged. Ask for another copy.")
    fonts, texts, unknown = {}, [], {}
    for each in fields:
        page = Page(document, each, fonts)
        texts.append(page.text(layout))
        for name, count in page.unknown.items():
            unknown[name] = unknown.get(name, 0) + count
    notes = ["read without pdftotext, so the order of lines may differ from the page"]
    for name, count in unknown.items():
        notes.append(f"{count} characters in the font {name} cannot be told from the file and are shown as {UNKNOWN}")
    return texts, notes


def choose(wanted, count):
    if not wanted:
        return list(range(1, count + 1))
    chosen = []
    for part in wanted.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)?\s*)?", part)
        if not match:
            raise SystemExit(f"{part!r} is no page or range of pages.")
        first = int(match[1])
        last = int(match[2]) if match[2] else (count if "-" in part else first)
        if first < 1 or first > count or last < first:
            raise SystemExit(f"There is no page {part.strip()}: the file has {count}.")
        chosen.extend(range(first, min(last, count) + 1))
    return list(dict.fromkeys(chosen))


def print_matches(pages, chosen, wanted):
    found = 0
    for number in chosen:
        for line in pages[number - 1].split("\n"):
            if wanted.lower() in line.lower():
                print(f"page {number}: {' '.join(line.split())}")
                found += 1
    return found


def listed(numbers):
    return ("page " if len(numbers) == 1 else "pages ") + ", ".join(map(str, numbers))


if __name__ == "__main__":
    sys.exit(main())
