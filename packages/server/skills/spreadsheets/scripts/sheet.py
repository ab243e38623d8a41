#!/usr/bin/env python3
"""Looks into CSV and XLSX files: what is in them, totals, pivots, export. Run with --help for the commands."""

import argparse
import csv
import datetime
import re
import statistics
import sys
from decimal import Decimal

sys.dont_write_bytecode = True
from tables import Unreadable, find_decimal_mark, parse_date, parse_number, read_sheets, units_of  # noqa: E402


def main():
    arguments = read_arguments()
    try:
        arguments.run(arguments)
    except Unreadable as problem:
        print(problem, file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0
    return 0


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name, run, about):
        made = commands.add_parser(name, help=about, description=about)
        made.add_argument("file")
        made.add_argument("--sheet", help="name or number of the sheet; absent: the first one that has rows")
        made.add_argument("--header", type=int, help="row that holds the column names; absent: it is found")
        made.add_argument("--decimal", choices=["point", "comma"], help="how numbers in text are written; absent: it is found")
        made.set_defaults(run=run)
        return made

    def filters(made):
        made.add_argument("--where", action="append", default=[], metavar="CONDITION", help="such as 'Region=North', 'Amount>=100', 'Name~smith'; may be given several times, all must hold")

    command("info", show_info, "The sheets, and for each column its kind, how full it is, and examples.")
    shown = command("show", show_rows, "The rows themselves, with their numbers in the file.")
    shown.add_argument("--columns", help="names separated by commas; absent: all")
    shown.add_argument("--from", dest="first", type=int, default=1, help="how many of the rows to begin with, counted from 1")
    shown.add_argument("--rows", type=int, default=20, help="how many rows; 0: all")
    filters(shown)
    total = command("total", show_totals, "Sum, mean and the like of number columns, as a whole or by group.")
    total.add_argument("--column", action="append", required=True, help="a column of numbers; may be given several times")
    total.add_argument("--by", help="column to group by; a date column takes :year, :quarter, :month or :day behind its name")
    total.add_argument("--how", default="sum", help="of sum, mean, median, min, max, count, separated by commas; absent: sum")
    filters(total)
    pivot = command("pivot", show_pivot, "A table of one column against another.")
    pivot.add_argument("--rows", required=True, help="column whose values become rows")
    pivot.add_argument("--columns", required=True, help="column whose values become columns")
    pivot.add_argument("--values", required=True, help="column of numbers")
    pivot.add_argument("--how", default="sum", choices=sorted(FUNCTIONS))
    filters(pivot)
    export = command("export", export_csv, "Writes one sheet as a CSV file (UTF-8, commas).")
    export.add_argument("--output", required=True)
    return parser.parse_args()


# --- Tables with names ---------------------------------------------------------------------------


class Table:
    """The rows of a sheet below its header, each with its number in the file."""

    def __init__(self, arguments):
        self.sheet = pick_sheet(read_sheets(arguments.file), arguments.sheet)
        self.decimal = {"point": ".", "comma": ","}.get(arguments.decimal)
        rows = self.sheet.rows
        self.header_row = arguments.header or find_header(rows)
        if not rows:
            raise Unreadable(f"The sheet {self.sheet.name!r} is empty.")
        if not 1 <= self.header_row <= len(rows):
            raise Unreadable(f"There is no row {self.header_row}: the sheet has {len(rows)}.")
        below = rows[self.header_row :]
        width = max((len(row) for row in [rows[self.header_row - 1], *below]), default=0)
        self.columns = name_columns(rows[self.header_row - 1], width)
        self.rows = []
        for number, row in enumerate(below, self.header_row + 1):
            if any(cell is not None for cell in row):
                self.rows.append((number, row + [None] * (width - len(row))))
        self.notes = [f"Sheet {self.sheet.name!r}, header in row {self.header_row}, {counted(len(self.rows), 'row')}."]
        self.notes += [f"{note[0].upper()}{note[1:]}." for note in self.sheet.notes]

    def find(self, name):
        wanted = name.strip().lower()
        for index, column in enumerate(self.columns):
            if column.lower() == wanted:
                return index
        if re.fullmatch(r"[a-z]{1,3}", wanted):
            index = 0
            for letter in wanted:
                index = index * 26 + ord(letter) - 96
            if index <= len(self.columns):
                return index - 1
        raise Unreadable(f"There is no column {name!r}. The columns are: {', '.join(self.columns)}.")

    def values(self, index, rows=None):
        return [row[index] for _, row in (self.rows if rows is None else rows)]

    def numbers(self, index, rows):
        """Pairs of row and number; a note says which cells were left out."""
        mark, unclear = find_decimal_mark(self.values(index))
        mark = self.decimal or mark
        if unclear and not self.decimal:
            self.note(
                f"Column {self.columns[index]!r} can be read with a decimal point or a decimal comma; it was read with a "
                f"{'point' if mark == '.' else 'comma'}. Pass --decimal to decide."
            )
        found, odd = [], []
        for entry in rows:
            cell = entry[1][index]
            number = parse_number(cell, mark)
            if number is not None:
                found.append((entry, number))
            elif cell is not None:
                odd.append((entry[0], cell))
        if odd:
            examples = ", ".join(f"row {number} {as_text(cell)!r}" for number, cell in odd[:5])
            self.note(f"Left out of {self.columns[index]!r}: {counted(len(odd), 'cell')} without a number ({examples}).")
        empty = len(rows) - len(found) - len(odd)
        if empty:
            self.note(f"Left out of {self.columns[index]!r}: {counted(empty, 'empty cell')}.")
        units = {units_of(entry[1][index]) for entry, _ in found}
        if len(units) > 1:
            signs = ", ".join(sorted({sign for each in units for sign in each}))
            self.note(f"Column {self.columns[index]!r} mixes numbers with and without {signs}: they were added up as if alike.")
        return found

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def print_notes(self):
        print()
        for note in self.notes:
            print(f"Note: {note}")


def pick_sheet(sheets, wanted):
    if wanted is None:
        return next((sheet for sheet in sheets if sheet.rows and not sheet.hidden), sheets[0])
    for sheet in sheets:
        if sheet.name.lower() == wanted.lower():
            return sheet
    if wanted.isdigit() and 1 <= int(wanted) <= len(sheets):
        return sheets[int(wanted) - 1]
    raise Unreadable(f"There is no sheet {wanted!r}. The sheets are: {', '.join(sheet.name for sheet in sheets)}.")


def find_header(rows):
    """The first row of texts that is nearly as wide as the table; titles above it are narrower."""
    width = max((sum(cell is not None for cell in row) for row in rows[:50]), default=0)
    for number, row in enumerate(rows[:50], 1):
        filled = [cell for cell in row if cell is not None]
        is_text = all(isinstance(cell, str) and parse_number(cell) is None for cell in filled)
        if len(filled) >= max(1, width * 0.6) and is_text:
            return number
    return 1


def name_columns(header, width):
    names = []
    for index in range(width):
        cell = header[index] if index < len(header) else None
        name = " ".join(as_text(cell).split()) or f"Column {letters(index)}"
        taken = sum(1 for other in names if other == name or other.startswith(f"{name} ("))
        names.append(f"{name} ({taken + 1})" if name in names else name)
    return names


def letters(index):
    text = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        text = chr(65 + rest) + text
    return text


# --- Commands ------------------------------------------------------------------------------------


def show_info(arguments):
    sheets = read_sheets(arguments.file)
    if arguments.sheet is not None:
        sheets = [pick_sheet(sheets, arguments.sheet)]
    for sheet in sheets:
        hidden = ", hidden" if sheet.hidden else ""
        print(f"## {sheet.name}: {len(sheet.rows)} rows{hidden}\n")
        if not sheet.rows:
            continue
        one = argparse.Namespace(**{**vars(arguments), "sheet": sheet.name})
        table = Table(one)
        lines = [["Column", "Name", "Kind", "Filled", "Distinct", "Examples"]]
        for index, name in enumerate(table.columns):
            lines.append([letters(index), name, *describe(table, index)])
        print_table(lines)
        table.print_notes()
        print()


def describe(table, index):
    cells = [cell for cell in table.values(index) if cell is not None]
    distinct = list(dict.fromkeys(as_text(cell) for cell in cells))
    kinds = {}
    mark = table.decimal or find_decimal_mark(cells)[0]
    for cell in cells:
        kind = kind_of(cell, mark)
        kinds[kind] = kinds.get(kind, 0) + 1
    named = ", ".join(f"{kind} ({count})" if len(kinds) > 1 else kind for kind, count in sorted(kinds.items(), key=lambda item: -item[1]))
    examples = ", ".join(shorten(text) for text in distinct[:3])
    return [named or "empty", f"{len(cells)} of {len(table.rows)}", str(len(distinct)), examples]


def kind_of(cell, mark):
    if isinstance(cell, bool):
        return "yes/no"
    if isinstance(cell, (datetime.date, datetime.time)):
        return "date" if isinstance(cell, datetime.date) else "time"
    if parse_number(cell, mark) is not None:
        return "number" if isinstance(cell, Decimal) else "number as text"
    if isinstance(cell, str) and parse_date(cell):
        return "date as text"
    return "text"


def show_rows(arguments):
    table = Table(arguments)
    rows = filtered(table, arguments.where)
    names = [name for name in (arguments.columns or "").split(",") if name.strip()]
    indexes = [table.find(name) for name in names] or range(len(table.columns))
    first = max(1, arguments.first) - 1
    chosen = rows[first:] if arguments.rows == 0 else rows[first : first + arguments.rows]
    print_table([["Row", *(table.columns[index] for index in indexes)]] + [[str(number), *(as_text(row[index]) for index in indexes)] for number, row in chosen])
    if len(chosen) < len(rows):
        table.note(f"Shown: {len(chosen)} of {len(rows)} rows.")
    table.print_notes()


def show_totals(arguments):
    table = Table(arguments)
    rows = filtered(table, arguments.where)
    functions = [name.strip() for name in arguments.how.split(",")]
    unknown = [name for name in functions if name not in FUNCTIONS]
    if unknown:
        raise Unreadable(f"There is no {unknown[0]!r}. Use {', '.join(FUNCTIONS)}.")
    columns = [table.find(name) for name in arguments.column]
    group_of, group_name = grouping(table, arguments.by) if arguments.by else (lambda row: "All rows", "")
    heads = [f"{function} of {table.columns[index]}" for index in columns for function in functions]
    groups = {}
    for entry in rows:
        groups.setdefault(group_of(entry[1]), {})
    for index in columns:
        for entry, number in table.numbers(index, rows):
            groups[group_of(entry[1])].setdefault(index, []).append(number)
    lines = [[group_name, *heads]]
    for group in sorted(groups, key=sort_key):
        lines.append([as_text(group), *results(groups[group], columns, functions)])
    if arguments.by:
        whole = {index: [number for group in groups.values() for number in group.get(index, [])] for index in columns}
        lines.append(["**All**", *results(whole, columns, functions)])
    print_table(lines)
    print_scope(table, rows)


def results(group, columns, functions):
    return [as_text(FUNCTIONS[function](group.get(index, []))) for index in columns for function in functions]


def show_pivot(arguments):
    table = Table(arguments)
    rows = filtered(table, arguments.where)
    row_of, row_name = grouping(table, arguments.rows)
    column_of, _ = grouping(table, arguments.columns)
    function = FUNCTIONS[arguments.how]
    cells = {}
    for entry, number in table.numbers(table.find(arguments.values), rows):
        cells.setdefault((row_of(entry[1]), column_of(entry[1])), []).append(number)
    row_keys = sorted({row for row, _ in cells}, key=sort_key)
    column_keys = sorted({column for _, column in cells}, key=sort_key)
    lines = [[row_name, *(as_text(key) for key in column_keys), "**All**"]]
    for row in [*row_keys, None]:
        line = ["**All**" if row is None else as_text(row)]
        for column in [*column_keys, None]:
            numbers = [n for (r, c), found in cells.items() if row in (None, r) and column in (None, c) for n in found]
            line.append(as_text(function(numbers)))
        lines.append(line)
    print_table(lines)
    table.note(f"Each cell is the {arguments.how} of {arguments.values}.")
    print_scope(table, rows)


def print_scope(table, rows):
    if len(rows) < len(table.rows):
        table.note(f"{len(rows)} of {len(table.rows)} rows meet the conditions.")
    table.print_notes()


def export_csv(arguments):
    table = Table(arguments)
    with open(arguments.output, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.columns)
        writer.writerows([as_text(cell) for cell in row] for _, row in table.rows)
    print(f"Written: {arguments.output}, {len(table.rows)} rows and {len(table.columns)} columns.")
    table.print_notes()


# --- Groups, conditions, functions ---------------------------------------------------------------

EMPTY = "(empty)"


def grouping(table, by):
    name, _, part = by.rpartition(":") if re.search(r":(year|quarter|month|day)$", by) else (by, "", "")
    index = table.find(name)

    def group_of(row):
        cell = row[index]
        if cell is None:
            return EMPTY
        if not part:
            return cell.strip() if isinstance(cell, str) else cell
        date = cell if isinstance(cell, datetime.date) else parse_date(as_text(cell))
        if date is None:
            table.note(f"Column {name!r} holds {as_text(cell)!r}, which is no date that can be read in one way only.")
            return "(no date)"
        return {
            "year": f"{date.year}",
            "quarter": f"{date.year}-Q{(date.month + 2) // 3}",
            "month": f"{date.year}-{date.month:02}",
            "day": f"{date:%Y-%m-%d}",
        }[part]

    return group_of, table.columns[index] + (f" by {part}" if part else "")


CONDITION = re.compile(r"^(.+?)\s*(>=|<=|!=|=|>|<|~)\s*(.*)$")


def filtered(table, conditions):
    rows = table.rows
    for condition in conditions:
        match = CONDITION.match(condition)
        if not match:
            raise Unreadable(f"The condition {condition!r} is not one: write a column, one of = != > >= < <= ~, and a value.")
        name, operator, wanted = match.groups()
        index = table.find(name)
        mark = table.decimal or find_decimal_mark(table.values(index))[0]
        rows = [entry for entry in rows if holds(entry[1][index], operator, wanted.strip(), mark)]
    return rows


def holds(cell, operator, wanted, mark):
    if operator == "~":
        return wanted.lower() in as_text(cell).lower()
    if operator in ("=", "!="):
        same = as_text(cell).strip().lower() == wanted.lower()
        number, other = parse_number(cell, mark), parse_number(wanted)
        if number is not None and other is not None:
            same = number == other
        return same == (operator == "=")
    left, right = comparable(cell, wanted, mark)
    if left is None or right is None:
        return False
    return {">": left > right, ">=": left >= right, "<": left < right, "<=": left <= right}[operator]


def comparable(cell, wanted, mark):
    date = cell if isinstance(cell, datetime.date) else parse_date(cell) if isinstance(cell, str) else None
    if date is not None:
        other = parse_date(wanted)
        return (as_moment(date), as_moment(other)) if other else (None, None)
    return parse_number(cell, mark), parse_number(wanted)


def as_moment(date):
    return date if isinstance(date, datetime.datetime) else datetime.datetime.combine(date, datetime.time())


FUNCTIONS = {
    "sum": lambda numbers: sum(numbers) if numbers else None,
    "mean": lambda numbers: sum(numbers) / len(numbers) if numbers else None,
    "median": lambda numbers: statistics.median(numbers) if numbers else None,
    "min": lambda numbers: min(numbers, default=None),
    "max": lambda numbers: max(numbers, default=None),
    "count": lambda numbers: Decimal(len(numbers)),
}


def sort_key(value):
    """Numbers by size, then dates, then texts; what is empty comes last."""
    if value in (EMPTY, "(no date)"):
        return (3, 0, str(value))
    number = parse_number(value)
    if number is not None:
        return (0, number, "")
    if isinstance(value, datetime.date):
        return (1, 0, as_moment(value).isoformat())
    return (2, 0, as_text(value).lower())


# --- Output --------------------------------------------------------------------------------------


def as_text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        rounded = round(value, 6) if value == value.to_integral_value() or abs(value) >= Decimal("0.000001") else value
        return f"{rounded:f}".rstrip("0").rstrip(".") if "." in f"{rounded:f}" else f"{rounded:f}"
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def counted(count, what):
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def shorten(text):
    text = " ".join(text.split())
    return text if len(text) <= 30 else f"{text[:29]}…"


def print_table(lines):
    def cell(text):
        return " ".join(text.split()).replace("|", "\\|")

    head, *rest = lines
    print(f"| {' | '.join(cell(text) for text in head)} |")
    print(f"|{'---|' * len(head)}")
    for line in rest:
        print(f"| {' | '.join(cell(text) for text in line)} |")


if __name__ == "__main__":
    sys.exit(main())
