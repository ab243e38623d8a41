"""Reads CSV and XLSX files into plain tables with the Python standard library alone."""

import csv
import datetime
import io
import re
import zipfile
from decimal import Decimal, InvalidOperation
from xml.etree import ElementTree

# A spreadsheet is a zip: a small file can unpack to gigabytes.
MOST_UNPACKED = 300 * 1024 * 1024
MOST_COLUMNS = 16384
MOST_ROWS = 1048576


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

RELATION_ID = re.compile(r"\{[^}]*relationships\}id$")


def read_xlsx(content, path):
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        names = set(archive.namelist())
    except zipfile.BadZipFile:
        raise Unreadable(f"{path} is a damaged zip, so it cannot be an .xlsx workbook.")
    if "xl/workbook.xml" not in names:
        kind = "an OpenDocument or other" if "content.xml" in names or "mimetype" in names else "another kind of"
        raise Unreadable(f"{path} is {kind} zip, not an .xlsx workbook: ask for it as .xlsx or .csv.")
    unpacked = sum(entry.file_size for entry in archive.infolist() if entry.filename.startswith("xl/"))
    if unpacked > MOST_UNPACKED:
        raise Unreadable(f"{path} unpacks to {unpacked // 1024 // 1024} MB, which is too much to read at once.")
    workbook = parse(archive, "xl/workbook.xml")
    targets = relations(archive, names)
    texts = shared_texts(archive, names)
    date_styles = styles_of_dates(archive, names)
    starts_1904 = any(local(node) == "workbookPr" and node.get("date1904") in ("1", "true") for node in workbook.iter())
    sheets = []
    for node in workbook.iter():
        if local(node) != "sheet":
            continue
        relation = next((value for key, value in node.attrib.items() if RELATION_ID.search(key)), None)
        part = targets.get(relation)
        if part not in names:
            continue
        rows, notes = sheet_rows(archive, part, texts, date_styles, starts_1904)
        sheets.append(Sheet(node.get("name", part), trim(rows), notes, node.get("state", "visible") != "visible"))
    if not sheets:
        raise Unreadable(f"{path} holds no sheet with cells.")
    return sheets


def parse(archive, name):
    data = archive.read(name)
    refuse_doctype(data[:4096], name)
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise Unreadable(f"The part {name} of the workbook is damaged: {error}.")


def refuse_doctype(beginning, name):
    # No spreadsheet program writes one; it is how an XML file blows itself up.
    if b"<!DOCTYPE" in beginning:
        raise Unreadable(f"The part {name} of the workbook declares a document type, which no workbook needs.")


def local(node):
    return node.tag.rpartition("}")[2]


def relations(archive, names):
    part = "xl/_rels/workbook.xml.rels"
    if part not in names:
        return {}
    found = {}
    for node in parse(archive, part):
        target = node.get("Target", "")
        found[node.get("Id")] = target.lstrip("/") if target.startswith("/") else "xl/" + target
    return found


def shared_texts(archive, names):
    if "xl/sharedStrings.xml" not in names:
        return []
    return [text_of(node) for node in parse(archive, "xl/sharedStrings.xml") if local(node) == "si"]


def text_of(node):
    """The text of an entry, without the reading aids that East Asian texts carry beside it."""
    parts = []
    for child in node:
        if local(child) == "t":
            parts.append(child.text or "")
        elif local(child) == "r":
            parts.extend(piece.text or "" for piece in child if local(piece) == "t")
    return "".join(parts)


BUILT_IN_DATES = set(range(14, 23)) | set(range(27, 37)) | set(range(45, 48)) | set(range(50, 59))


def styles_of_dates(archive, names):
    """Which cell styles show a number as a date, and which of them as a time alone."""
    if "xl/styles.xml" not in names:
        return set()
    styles = parse(archive, "xl/styles.xml")
    own = {}
    for node in styles.iter():
        if local(node) == "numFmt":
            own[node.get("numFmtId")] = node.get("formatCode", "")
    formats = next((node for node in styles if local(node) == "cellXfs"), [])
    found = set()
    for index, node in enumerate(formats):
        number = node.get("numFmtId", "0")
        if number in own:
            if is_date_format(own[number]):
                found.add(index)
        elif number.isdigit() and int(number) in BUILT_IN_DATES:
            found.add(index)
    return found


def is_date_format(code):
    bare = re.sub(r'"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]|_.|\*.', "", code, flags=re.IGNORECASE)
    return re.search(r"[ymdhs]", bare, re.IGNORECASE) is not None and "general" not in bare.lower()


def sheet_rows(archive, part, texts, date_styles, starts_1904):
    rows = []
    without_result = merged = 0
    with archive.open(part) as beginning:
        refuse_doctype(beginning.read(4096), part)
    with archive.open(part) as stream:
        try:
            for _, node in ElementTree.iterparse(stream):
                kind = local(node)
                if kind == "row":
                    number = int(node.get("r") or len(rows) + 1)
                    if number > MOST_ROWS:
                        raise ValueError(f"it has a row {number}")
                    cells, missing = row_cells(node, texts, date_styles, starts_1904)
                    without_result += missing
                    if cells:
                        rows.extend([] for _ in range(number - len(rows) - 1))
                        rows.append(cells)
                    node.clear()
                elif kind == "mergeCell":
                    merged += 1
        except (ElementTree.ParseError, ValueError) as error:
            raise Unreadable(f"The part {part} of the workbook is damaged: {error}.")
    notes = []
    if without_result:
        notes.append(f"{without_result} formulas have no stored result, so their cells are empty here")
    if merged:
        notes.append(f"{merged} merged areas: only the first cell of each holds the value")
    return rows, notes


def row_cells(row, texts, date_styles, starts_1904):
    cells = []
    missing = 0
    for node in row:
        if local(node) != "c":
            continue
        column = column_index(node.get("r")) if node.get("r") else len(cells)
        if column >= MOST_COLUMNS or column < len(cells):
            continue
        value = cell_value(node, texts, date_styles, starts_1904)
        if value is None and any(local(child) == "f" for child in node):
            missing += 1
        if value is None:
            continue
        cells.extend([None] * (column - len(cells)))
        cells.append(value)
    return cells, missing


def column_index(reference):
    index = 0
    for letter in reference:
        if not letter.isalpha():
            break
        index = index * 26 + ord(letter.upper()) - 64
    return index - 1


def cell_value(node, texts, date_styles, starts_1904):
    kind = node.get("t", "n")
    if kind == "inlineStr":
        inline = next((child for child in node if local(child) == "is"), None)
        return text_of(inline) or None if inline is not None else None
    raw = next((child.text for child in node if local(child) == "v"), None)
    if raw is None or raw == "":
        return None
    if kind == "s":
        return texts[int(raw)] if int(raw) < len(texts) else None
    if kind == "b":
        return raw == "1"
    if kind == "d":
        return parse_date(raw) or raw
    if kind in ("str", "e"):
        return raw
    number = tidy_number(raw)
    style = int(node.get("s") or 0)
    return serial_date(number, starts_1904) if style in date_styles else number


def tidy_number(raw):
    """A workbook stores 0.1 + 0.2 as 0.30000000000000004; people mean the 15 digits that the program shows."""
    try:
        number = Decimal(raw)
    except InvalidOperation:
        raise ValueError(f"the cell holds {raw!r} where a number should be")
    return Decimal(f"{number:.15g}") if len(number.as_tuple().digits) > 15 else number


def serial_date(number, starts_1904):
    start = datetime.datetime(1904, 1, 1) if starts_1904 else datetime.datetime(1899, 12, 30)
    # The calendar of spreadsheets has a 29 February 1900, so the first two months of it are off by a day.
    if not starts_1904 and 0 < number < 60:
        number += 1
    try:
        moment = start + datetime.timedelta(seconds=round(float(number) * 86400))
    except OverflowError:
        return number
    if 0 <= number < 1:
        return moment.time()
    return moment.date() if moment.time() == datetime.time() else moment


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
