#!/usr/bin/env python3
"""Prints the text of a PDF page by page, with pdftotext of the package poppler-utils."""

import argparse
import re
import subprocess
import sys


class Unreadable(Exception):
    """Says in one sentence why a file cannot be read and what to do instead."""


def main():
    arguments = read_arguments()
    try:
        pages = read_pages(arguments.file, arguments.layout)
    except Unreadable as problem:
        print(problem, file=sys.stderr)
        return 1
    chosen = choose(arguments.pages, len(pages))
    notes = []
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
    return parser.parse_args()


def read_pages(file, layout):
    try:
        with open(file, "rb") as content:
            if b"%PDF-" not in content.read(1024):
                raise Unreadable(f"{file} is no PDF file.")
    except OSError as error:
        raise Unreadable(f"{file} cannot be opened: {error.strerror}.")
    command = ["pdftotext", "-enc", "UTF-8", *(["-layout"] if layout else []), file, "-"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    except FileNotFoundError:
        raise Unreadable("The package poppler-utils is missing: ask the operator to install it (`npm run setup:system`).")
    except subprocess.TimeoutExpired:
        raise Unreadable("The PDF takes longer than two minutes to read: ask for the part that matters as a file of its own.")
    said = done.stderr.decode("utf-8", errors="replace")
    if "Incorrect password" in said:
        raise Unreadable("The PDF is protected with a password: ask for a copy without one.")
    pages = [page.rstrip() for page in done.stdout.decode("utf-8", errors="replace").split("\f")[:-1]]
    if done.returncode != 0 or not pages:
        raise Unreadable("No pages were found: the PDF is damaged. Ask for another copy.")
    return pages


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
