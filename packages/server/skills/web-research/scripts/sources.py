#!/usr/bin/env python3
"""Keeps the notes of a research: numbered sources with claims and quotations, and checks a draft against them."""

import argparse
import datetime
import json
import os
import re
import sys
import unicodedata
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit


def main():
    arguments = read_arguments()
    try:
        return arguments.run(arguments) or 0
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2


class Problem(Exception):
    """An invalid command, described in one sentence."""


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", default="sources.json", help="the file that holds the notes; absent: sources.json")
    commands = parser.add_subparsers(required=True, metavar="command")
    add = commands.add_parser("add", help="note a fact and the page that it comes from; prints the number to cite")
    add.add_argument("--url", required=True)
    add.add_argument("--title", required=True)
    add.add_argument("--publisher", default="")
    add.add_argument("--published", default="", help="date on the page: YYYY, YYYY-MM or YYYY-MM-DD; absent: not dated")
    add.add_argument("--claim", default="", help="the fact, in your words")
    add.add_argument("--quote", default="", help="the words of the page that say so")
    add.set_defaults(run=add_source)
    listed = commands.add_parser("list", help="print the sources as a section of the answer")
    listed.add_argument("--claims", action="store_true", help="with the claims and quotations of each")
    listed.set_defaults(run=list_sources)
    check = commands.add_parser("check", help="hold a draft against the notes; ends with 1 where something is wrong")
    check.add_argument("draft")
    check.set_defaults(run=check_draft)
    return parser.parse_args()


# --- Notes ---------------------------------------------------------------------------------------


def load(path):
    if not os.path.exists(path):
        return []
    try:
        with open(path, encoding="utf-8") as file:
            notes = json.load(file)
        return [dict(note) for note in notes["sources"]]
    except (OSError, ValueError, KeyError, TypeError):
        raise Problem(f"{path} holds no notes of this script: name another file with --notes.")


def save(path, sources):
    beside = f"{path}.new"
    with open(beside, "w", encoding="utf-8") as file:
        json.dump({"sources": sources}, file, ensure_ascii=False, indent=2)
        file.write("\n")
    os.replace(beside, path)


def add_source(arguments):
    address = tidy_address(arguments.url)
    published = arguments.published.strip()
    if published and not is_date(published):
        raise Problem(f"{published!r} is no date: write YYYY, YYYY-MM or YYYY-MM-DD, or leave it out.")
    sources = load(arguments.notes)
    source = next((each for each in sources if tidy_address(each["url"]) == address), None)
    if source is None:
        source = {
            "number": max((each["number"] for each in sources), default=0) + 1,
            "url": arguments.url.strip(),
            "title": " ".join(arguments.title.split()),
            "publisher": " ".join(arguments.publisher.split()),
            "published": published,
            "opened": datetime.date.today().isoformat(),
            "claims": [],
        }
        sources.append(source)
    claim = {"claim": " ".join(arguments.claim.split()), "quote": " ".join(arguments.quote.split())}
    if any(claim.values()) and claim not in source["claims"]:
        source["claims"].append(claim)
    save(arguments.notes, sources)
    print(f"[{source['number']}] {source['title']}")


def tidy_address(url):
    """The same page for two addresses that differ only in what tells where the click came from."""
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").removeprefix("www.")
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise Problem(f"{url!r} is no address of a page.")
    if parts.scheme not in ("http", "https") or "." not in host:
        raise Problem(f"{url!r} is no address of a page: it must begin with https:// and name a site.")
    query = [(key, value) for key, value in parse_qsl(parts.query, keep_blank_values=True) if not TRACKING.match(key)]
    return urlunsplit(("https", host + port, parts.path.rstrip("/"), urlencode(query), ""))


TRACKING = re.compile(r"^(utm_\w+|gclid|fbclid|msclkid|mc_[ce]id|igshid|ref_src)$")


def is_date(text):
    for pattern in ("%Y-%m-%d", "%Y-%m", "%Y"):
        try:
            datetime.datetime.strptime(text, pattern)
            return True
        except ValueError:
            continue
    return False


def list_sources(arguments):
    sources = load(arguments.notes)
    if not sources:
        raise Problem(f"{arguments.notes} holds no sources yet.")
    print("\n## Sources\n")
    for source in sources:
        dated = source["published"] or "not dated"
        publisher = f"{source['publisher']}, " if source["publisher"] else ""
        print(f"[{source['number']}] {source['title']}. {publisher}{dated}. {source['url']} (opened {source['opened']})\n")
        for each in source["claims"] if arguments.claims else []:
            quote = f' – "{each["quote"]}"' if each["quote"] else ""
            print(f"    - {each['claim'] or 'quotation'}{quote}\n")


# --- The draft -----------------------------------------------------------------------------------

CITATION = re.compile(r"\[(\d{1,3}(?:\s*[,–-]\s*\d{1,3})*)\](?!\()")
QUOTATION = re.compile(r"[\"“„«]([^\"“”„«»]{25,}?)[\"”“»]")
# Figures that stand for a fact: sums, shares, years, quantities; not the numbers of a list or of a heading.
FIGURE = re.compile(r"[$€£¥]\s?\d|\d[\d.,]*\s?(%|percent|per cent|euros?|dollars?|pounds?|million|billion|km|kg|GB|MB)|\b(19|20)\d\d\b|\d{4,}")


def check_draft(arguments):
    sources = {source["number"]: source for source in load(arguments.notes)}
    try:
        with open(arguments.draft, encoding="utf-8") as file:
            draft = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{arguments.draft} cannot be read: {error}.")
    body = re.split(r"^#+\s*sources\s*$", draft, maxsplit=1, flags=re.IGNORECASE | re.MULTILINE)[0]
    body = re.sub(r"```.*?```|`[^`\n]*`", "", body, flags=re.DOTALL)
    problems = [*wrong_numbers(body, sources), *wrong_quotations(body, sources), *bare_figures(body)]
    for problem in problems:
        print(f"- {problem}")
    if problems:
        print(f"\n{len(problems)} to mend.")
        return 1
    print(f"All citations hold: {len(cited(body))} of {len(sources)} sources are cited.")
    return 0


def cited(body):
    numbers = []
    for match in CITATION.finditer(body):
        for part in match[1].split(","):
            ends = [int(end) for end in re.split(r"\s*[–-]\s*", part.strip())]
            numbers.extend(range(ends[0], ends[-1] + 1))
    return list(dict.fromkeys(numbers))


def wrong_numbers(body, sources):
    used = cited(body)
    for number in used:
        if number not in sources:
            yield f"[{number}] is cited, but there is no source {number} in the notes."
    for number, source in sources.items():
        if number not in used:
            yield f"Source [{number}] ({source['title']}) is not cited: cite it, or leave it out of the list."


def wrong_quotations(body, sources):
    noted = [plain(each["quote"]) for source in sources.values() for each in source["claims"] if each["quote"]]
    for match in QUOTATION.finditer(body):
        wanted = plain(match[1])
        if not any(wanted in quote for quote in noted):
            yield f"The quotation “{match[1][:60].strip()}…” is in no note: copy it exactly, or do not put it in quotation marks."


def plain(text):
    text = unicodedata.normalize("NFKC", text).lower()
    return " ".join(re.sub(r"[‘’`]", "'", text).replace("–", "-").split()).strip(" .,;:")


def bare_figures(body):
    line = 1
    for paragraph in re.split(r"(\n\s*\n)", body):
        begin = line
        line += paragraph.count("\n")
        text = "\n".join(each for each in paragraph.split("\n") if not each.lstrip().startswith("#"))
        rows = [each for each in text.split("\n") if each.lstrip().startswith(("|", "-", "*"))]
        for part in rows if rows else [text]:
            figure = FIGURE.search(CITATION.sub("", part))
            if figure and not CITATION.search(part):
                yield f"Near line {begin}: “{' '.join(part.split())[:70]}…” gives a figure and no source."


if __name__ == "__main__":
    sys.exit(main())
