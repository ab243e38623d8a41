"""Reads CSV files, and XLSX files with openpyxl of the package python3-openpyxl, into plain tables."""

import csv
import datetime
import io
import re
import zipfile
from decimal import Decimal, InvalidOperation

# A spreadsheet is a zip: a small file can unpack to gigabytes.
MOST_UNPACKED = 300 * 1024 * 1024


class Unreadable(Exception):
    """Says in one sentence why a file cannot be read and what to do instead."""


class Sheet:
    def __init__(self, name, rows, notes=(), hidden=False):
        self.name = name
        self.rows = rows
        self.notes = list(notes)
        self.hidden = hidden


def read_sheets(path):
    """Every sheet of a file, in order. A CSV file is one sheet."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise Unreadable(f"{path} cannot be opened: {error.strerror}.")
    if content[:4] == b"PK\x03\x04":
        return read_xlsx(content, path)
    if content[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise Unreadable(
            f"{path} is an old .xls file or a workbook with a password: ask for it as .xlsx or .csv without one."
        )
    return [read_csv(content, path)]


# --- CSV -----------------------------------------------------------------------------------------


def read_csv(content, path):
    text, encoding = decode(content)
    if "\0" in text:
        raise Unreadable(f"{path} is neither a CSV text nor an .xlsx workbook.")
    delimiter = find_delimiter(text)
    csv.field_size_limit(10 * 1024 * 1024)
    try:
        rows = [[cell if cell != "" else None for cell in row] for row in csv.reader(io.StringIO(text), delimiter=delimiter)]
    except csv.Error as error:
        raise Unreadable(f"{path} is not a readable CSV file: {error}.")
    named = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "pipe"}[delimiter]
    notes = [f"read as CSV, {encoding}, separated by {named}"]
    return Sheet("CSV", trim(rows), notes)


def decode(content):
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace"), "UTF-16"
    try:
        return content.decode("utf-8-sig"), "UTF-8"
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace"), "Windows-1252 (a guess: it is not UTF-8)"


def find_delimiter(text):
    """The separator under which the first lines have the same number of columns, and the most of them."""
    sample = io.StringIO(text[:200_000])
    lines = [line for line in (sample.readline() for _ in range(60)) if line.strip()]
    best, best_score = ",", (0, 0)
    for delimiter in [",", ";", "\t", "|"]:
        widths = [len(row) for row in csv.reader(io.StringIO("".join(lines)), delimiter=delimiter) if row]
        if not widths:
            continue
        usual = max(set(widths), key=widths.count)
        score = (widths.count(usual) / len(widths) if usual > 1 else 0, usual)
        if score > best_score:
            best, best_score = delimiter, score
    return best


# --- XLSX ----------------------------------------------------------------------------------------


def read_xlsx(content, path):
    refuse_other_zips(content, path)
    try:
        import openpyxl
    except ImportError:
        raise Unreadable("The package python3-openpyxl is missing: ask the operator to install it (`npm run setup:system`).")
    try:
        # Once with the results that the program stored, and once with the formulas that they belong to.
        results = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
        formulas = openpyxl.load_workbook(io.BytesIO(content))
    except Exception as error:  # openpyxl fails on damaged parts with whatever the part makes it fail with
        raise Unreadable(f"{path} is damaged or no .xlsx workbook: {type(error).__name__} {error}.")
    sheets = [
        Sheet(sheet.title, *rows_of(sheet, formulas[sheet.title]), sheet.sheet_state != "visible") for sheet in results.worksheets
    ]
    if not sheets:
        raise Unreadable(f"{path} holds no sheet with cells.")
    return sheets


def refuse_other_zips(content, path):
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            workbook = archive.open("xl/workbook.xml").read(4096)
    except zipfile.BadZipFile:
        raise Unreadable(f"{path} is a damaged zip, so it cannot be an .xlsx workbook.")
    except KeyError:
        raise Unreadable(f"{path} is another kind of zip, not an .xlsx workbook: ask for it as .xlsx or .csv.")
    if b"<!DOCTYPE" in workbook:
        raise Unreadable(f"{path} has a document type, which no program writes: it is not read.")
    unpacked = sum(entry.file_size for entry in entries if entry.filename.startswith("xl/"))
    if unpacked > MOST_UNPACKED:
        raise Unreadable(f"{path} unpacks to {unpacked // 1024 // 1024} MB, which is too much to read at once.")


def rows_of(sheet, formulas):
    rows = [[cell_value(value) for value in row] for row in sheet.iter_rows(values_only=True)]
    notes = []
    missing = sum(
        cell.data_type == "f" and sheet.cell(cell.row, cell.column).value is None
        for row in formulas.iter_rows()
        for cell in row
    )
    if missing:
        notes.append(f"{missing} formulas have no stored result, so their cells are empty here")
    if sheet.merged_cells.ranges:
        notes.append(f"{len(sheet.merged_cells.ranges)} merged areas: only the first cell of each holds the value")
    return trim(rows), notes


def cell_value(value):
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return tidy_number(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date()
    return value if value != "" else None


def tidy_number(value):
    """A workbook stores 0.1 + 0.2 as 0.30000000000000004; people mean the 15 digits that the program shows."""
    return Decimal(f"{value:.15g}")


def trim(rows):
    """Without the empty cells at the ends of rows and the empty rows at the end."""
    for row in rows:
        while row and row[-1] is None:
            row.pop()
    while rows and not rows[-1]:
        rows.pop()
    return rows


# --- Values in text ------------------------------------------------------------------------------

DATE_PATTERNS = ["%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"]


def parse_date(text):
    """Dates that can be read in one way only; 03/04/2025 is left as text."""
    text = text.strip().removesuffix("Z")
    for pattern in DATE_PATTERNS:
        try:
            moment = datetime.datetime.strptime(text, pattern)
        except ValueError:
            continue
        return moment.date() if "%H" not in pattern else moment
    return None


CURRENCIES = r"[$€£¥₹₽₩₺]|(?:USD|EUR|GBP|CHF|JPY|INR|AUD|CAD|SEK|NOK|DKK|PLN)"
SIGNS = re.compile(rf"[\s\u00a0\u202f'’_]|{CURRENCIES}", re.IGNORECASE)
UNITS = re.compile(rf"{CURRENCIES}|%", re.IGNORECASE)


def parse_number(value, decimal_mark="."):
    """The number that a cell means, or None. `12%` is 0.12 and `(5)` is -5."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Decimal):
        return value
    if not isinstance(value, str):
        return None
    text = SIGNS.sub("", value.strip()).replace("\u2212", "-")
    negative = text.startswith("(") and text.endswith(")")
    if negative:
        text = text[1:-1]
    if text.endswith("-"):
        negative, text = not negative, text[:-1]
    percent = text.endswith("%")
    text = text.rstrip("%")
    group = "," if decimal_mark == "." else "."
    if not re.fullmatch(
        rf"[+-]?(\d{{1,3}}(\{group}\d{{3}})+|\d{{1,2}}(\{group}\d{{2}})+\{group}\d{{3}}|\d+)?(\{decimal_mark}\d+)?([eE][+-]?\d{{1,3}})?",
        text,
    ) or not re.search(r"\d", text):
        return None
    number = Decimal(text.replace(group, "").replace(decimal_mark, "."))
    number = number / 100 if percent else number
    return -number if negative else number


def units_of(value):
    """The currency signs and the percent sign that a text carries beside its number."""
    return frozenset(sign.upper() for sign in UNITS.findall(value)) if isinstance(value, str) else frozenset()


def find_decimal_mark(values):
    """How the texts of one column write numbers, and whether anything in them says so."""
    comma = point = unclear = 0
    for value in values:
        if not isinstance(value, str):
            continue
        text = SIGNS.sub("", value).strip("()-+%")
        if not re.fullmatch(r"[\d.,]+", text):
            continue
        if re.search(r"\.\d{3},\d+$|^\d+,(\d{1,2}|\d{4,})$|\.\d{3}\.\d{3}$", text):
            comma += 1
        elif re.search(r",\d{3}\.\d+$|^\d+\.(\d{1,2}|\d{4,})$|,\d{3},\d{3}$", text):
            point += 1
        elif re.fullmatch(r"\d{1,3}[.,]\d{3}", text):
            unclear += 1
    mark = "," if comma > point else "."
    return mark, (comma > 0 and point > 0) or (unclear > 0 and comma == point == 0)
