#!/usr/bin/env python3
"""Checks the draft of an email before it is shown or sent. Ends with 1 where an error was found."""

import argparse
import datetime
import re
import sys

WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
HEAD = re.compile(r"^(from|to|cc|bcc|subject|attachments?|date)\s*:\s*(.*)$", re.IGNORECASE)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("draft", help="a text file: To, Cc, Subject and Attachments lines, an empty line, the text; - reads standard input")
    parser.add_argument("--today", help="the day the email is sent, YYYY-MM-DD; absent: today")
    arguments = parser.parse_args()
    try:
        text = sys.stdin.read() if arguments.draft == "-" else open(arguments.draft, encoding="utf-8").read()
        today = datetime.date.fromisoformat(arguments.today) if arguments.today else datetime.date.today()
    except (OSError, ValueError) as error:
        print(f"The draft cannot be checked: {error}.", file=sys.stderr)
        return 2
    fields, body = split(text)
    findings = list(check(fields, body, today))
    for level, message in sorted(findings, key=lambda finding: finding[0]):
        print(f"{level}: {message}")
    errors = sum(level == "error" for level, _ in findings)
    print(f"{errors} errors, {len(findings) - errors} warnings, {len(body.split())} words.")
    return 1 if errors else 0


def split(text):
    """The fields of the head, and the text below it without what is quoted from earlier messages."""
    fields, lines = {}, text.replace("\r\n", "\n").lstrip("\ufeff\n").split("\n")
    while lines and lines[0].strip():
        match = HEAD.match(lines[0])
        if not match:
            break
        name = match[1].lower().removesuffix("s") if match[1].lower().startswith("attach") else match[1].lower()
        fields[name] = ", ".join(filter(None, [fields.get(name), match[2].strip()]))
        lines.pop(0)
    own = [line for line in lines if not line.startswith(">")]
    return fields, "\n".join(own).strip()


def check(fields, body, today):
    yield from check_head(fields)
    yield from check_blanks(fields, body)
    yield from check_attachments(fields, body)
    yield from check_salutation(fields, body)
    yield from check_dates(f"{fields.get('subject', '')}\n{body}", today)
    yield from check_text(body)


def check_head(fields):
    if not fields.get("to"):
        yield "error", "there is no recipient: add a line `To: name <address>`."
    addresses = []
    for name in ("to", "cc", "bcc"):
        for each in recipients(fields.get(name, "")):
            address = re.search(r"[^\s<>]+@[^\s<>]+", each)
            if address is None:
                yield "warning", f"`{each}` in {name.capitalize()} has no address."
            elif not re.fullmatch(r"[^\s@<>,;]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", address[0]):
                yield "error", f"`{address[0]}` in {name.capitalize()} is no email address."
            elif address[0].lower() in addresses:
                yield "warning", f"{address[0]} is there twice."
            addresses.append(address[0].lower() if address else each)
    subject = fields.get("subject", "")
    if not subject:
        yield "error", "there is no subject."
        return
    bare = re.sub(r"^((re|fwd?|aw|wg)\s*:\s*)+", "", subject, flags=re.IGNORECASE)
    if len(bare) > 78:
        yield "warning", f"the subject has {len(bare)} characters: a phone shows some 40."
    if re.fullmatch(r"\W*(question|request|hello|hi|urgent|important|update|info|information|meeting)\W*", bare, re.IGNORECASE):
        yield "warning", f"the subject “{bare}” does not say what it is about."
    if bare.isupper() and len(bare) > 8:
        yield "warning", "the subject is in capitals."


def recipients(text):
    return [each.strip() for each in re.split(r"[;,](?![^<]*>)(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", text) if each.strip()]


BLANKS = [
    r"\[[^\]\n]{1,60}\](?!\()",
    r"\{\{?[^}\n]{1,60}\}?\}",
    r"<(?!https?:|mailto:)[A-Za-z][A-Za-z /’'-]{1,40}>",
    r"\b(?:TODO|TBD|TBC|XXX+|FIXME|lorem ipsum)\b",
    r"_{3,}|\.{5,}|\?\?\?+",
]


def check_blanks(fields, body):
    text = "\n".join([fields.get("subject", ""), body])
    for pattern in BLANKS:
        for match in re.finditer(pattern, text):
            yield "error", f"`{match[0]}` is a place that was left blank."


def check_attachments(fields, body):
    said = re.search(r"\b(attached|attachment|attachments|enclosed|anbei|im Anhang|ci-joint|en pièce jointe|adjunto)\b", body, re.IGNORECASE)
    listed = fields.get("attachment", "").strip().lower()
    there = listed not in ("", "none", "-")
    if said and not there:
        yield "error", f"the text says “{said[0]}”, and no attachment is listed: add a line `Attachments: file name`."
    if there and not said:
        yield "warning", "an attachment is listed that the text does not mention."


SALUTATION = re.compile(
    r"^(?:dear|hello|hi|good (?:morning|afternoon|evening)|hallo|liebe[rs]?|sehr geehrte[rs]?|bonjour|cher|chère|hola|estimad[oa])\s+(.{1,80}?)\s*[,:!\-–]?\s*$",
    re.IGNORECASE,
)
NOBODY = {"all", "everyone", "team", "colleagues", "sir", "madam", "there", "both", "folks", "friends", "customer", "zusammen", "damen", "herren", "und", "and", "or", "dear"}
TITLES = {"mr", "mrs", "ms", "miss", "mx", "dr", "prof", "professor", "herr", "herrn", "frau", "monsieur", "madame", "señor", "señora"}


def check_salutation(fields, body):
    first = body.split("\n", 1)[0].strip()
    match = SALUTATION.match(first)
    if not match:
        if body and not re.match(r"^[^\n]{1,60},\s*$", first):
            yield "warning", "there is no salutation on the first line."
        return
    names = {word.lower() for word in re.findall(r"[^\W\d_]+", match[1])} - TITLES
    if names & NOBODY or not names:
        return
    everybody = {word.lower() for word in re.findall(r"[^\W\d_]+", fields.get("to", "") + " " + fields.get("cc", ""))}
    # An address such as `aokafor@…` holds the name without a gap.
    run_together = re.sub(r"\W", "", fields.get("to", "").lower())
    missing = [name for name in names if name not in everybody and name not in run_together]
    if fields.get("to") and len(missing) == len(names):
        yield "error", f"the salutation “{first}” fits nobody in To or Cc."


DATES = re.compile(
    rf"\b(?P<weekday>{'|'.join(WEEKDAYS)})\b,?\s+(?:the\s+)?(?:"
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{'|'.join(MONTHS)})"
    rf"|(?P<month2>{'|'.join(MONTHS)})\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?"
    r"|(?P<iso>\d{4}-\d{2}-\d{2}))"
    r"(?:,?\s+(?P<year>\d{4}))?",
    re.IGNORECASE,
)


def check_dates(text, today):
    for match in DATES.finditer(" ".join(text.split())):
        wanted = WEEKDAYS.index(match["weekday"].lower())
        try:
            date = read_date(match, today)
        except ValueError:
            yield "error", f"“{match[0]}” is no date."
            continue
        if date.weekday() != wanted:
            yield "error", f"“{match[0]}” is a {WEEKDAYS[date.weekday()].capitalize()} in {date.year}."
    if re.search(r"\b\d{1,2}/\d{1,2}/\d{2,4}\b", text):
        yield "warning", "a date such as 03/04/2025 is read differently from country to country: write the month as a word."
    vague = re.search(r"\b(as soon as possible|asap|soon|shortly|at your earliest convenience)\b", text, re.IGNORECASE)
    if vague:
        yield "warning", f"“{vague[0]}” is no time: name a day."


def read_date(match, today):
    if match["iso"]:
        return datetime.date.fromisoformat(match["iso"])
    month = MONTHS.index((match["month"] or match["month2"]).lower()) + 1
    day = int(match["day"] or match["day2"])
    if match["year"]:
        return datetime.date(int(match["year"]), month, day)
    # Without a year the nearest such day is meant: in December, 5 January is next year's.
    near = [datetime.date(year, month, day) for year in (today.year - 1, today.year, today.year + 1) if is_day(year, month, day)]
    if not near:
        raise ValueError("no such day")
    return min(near, key=lambda date: abs((date - today).days))


def is_day(year, month, day):
    try:
        datetime.date(year, month, day)
        return True
    except ValueError:
        return False


def check_text(body):
    if not body:
        yield "error", "the email has no text."
        return
    if len(body.split()) > 250:
        yield "warning", f"the text has {len(body.split())} words: more than 250 are seldom read to the end."
    for paragraph in re.split(r"\n\s*\n", body):
        if len(paragraph.split()) > 90 and not re.search(r"^\s*(\d+[.)]|[-*•])\s", paragraph, re.MULTILINE):
            yield "warning", f"the paragraph “{' '.join(paragraph.split())[:40]}…” has {len(paragraph.split())} words: split it."
    if re.search(r"!\s*!|!{2,}", body) or body.count("!") > 3:
        yield "warning", "there are many exclamation marks."
    shouted = [word for word in re.findall(r"\b[A-Z]{5,}\b", body)]
    if len(shouted) >= 3:
        yield "warning", f"words in capitals read as shouting: {', '.join(shouted[:3])}."
    double = re.search(r"\b([^\W\d_]{2,})\s+\1\b", body, re.IGNORECASE)
    if double and double[1].lower() not in ("that", "had", "die", "der", "das"):
        yield "warning", f"“{double[0]}” repeats a word."
    if re.search(r"\b(?:\d[ -]?){13,19}\b", body) and has_card_number(body):
        yield "error", "the text holds what looks like a card number: no email should."
    if re.search(r"\b(password|passcode|PIN)\b\s*(is|:|=)\s*\S+", body, re.IGNORECASE):
        yield "error", "the text seems to hold a password: no email should."
    last = [line.strip() for line in body.split("\n") if line.strip()][-3:]
    if not any(CLOSING.search(line) for line in last) and len(body.split()) > 40:
        yield "warning", "there is no closing with a name."


CLOSING = re.compile(r"\b(regards|wishes|sincerely|faithfully|thanks|thank you|cheers|best|yours|grüße|grüßen|cordialement|saludos)\b", re.IGNORECASE)


def has_card_number(text):
    for match in re.finditer(r"\b(?:\d[ -]?){13,19}\b", text):
        digits = [int(digit) for digit in re.sub(r"\D", "", match[0])]
        doubled = [digit * 2 - 9 * (digit > 4) if at % 2 else digit for at, digit in enumerate(reversed(digits))]
        if sum(doubled) % 10 == 0:
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())
