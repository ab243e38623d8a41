#!/usr/bin/env python3
"""Prints the text of a Word (.docx) or PowerPoint (.pptx) file, with headings, tables and slide numbers."""

import argparse
import re
import sys
import zipfile
from xml.etree import ElementTree

MOST_UNPACKED = 300 * 1024 * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    file = parser.parse_args().file
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            if sum(entry.file_size for entry in archive.infolist()) > MOST_UNPACKED:
                raise SystemExit(f"{file} unpacks to more than can be read at once.")
            if "ppt/presentation.xml" in names:
                return print_deck(archive, names)
    except OSError as error:
        raise SystemExit(f"{file} cannot be opened: {error.strerror}.")
    except zipfile.BadZipFile:
        raise SystemExit(f"{file} is no .docx or .pptx file: an old .doc or .ppt has to be saved anew as one.")
    if "word/document.xml" not in names:
        raise SystemExit(f"{file} is neither a .docx nor a .pptx file.")
    print_document(file)


def print_document(file):
    try:
        import docx
    except ImportError:
        raise SystemExit("The package python3-docx is missing: ask the operator to install it (`npm run setup:system`).")
    from docx.table import Table
    from docx.text.paragraph import Paragraph

    document = docx.Document(file)
    for block in document.element.body.iterchildren():
        if block.tag.endswith("}p"):
            paragraph = Paragraph(block, document)
            level = re.match(r"Heading (\d)|Title", paragraph.style.name or "")
            mark = "#" * int(level[1] or 1) + " " if level else "- " if "List" in (paragraph.style.name or "") else ""
            if paragraph.text.strip():
                print(f"{mark}{paragraph.text}")
        elif block.tag.endswith("}tbl"):
            for row in Table(block, document).rows:
                print("| " + " | ".join(" ".join(cell.text.split()) for cell in row.cells) + " |")


def print_deck(archive, names):
    """Slides stand in the order of their names, which is the order in which programs write them."""
    slides = sorted((name for name in names if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)), key=number_in)
    for at, name in enumerate(slides, 1):
        print(f"--- slide {at} of {len(slides)} ---")
        for line in lines_of(archive.read(name)):
            print(line)
        notes = f"ppt/notesSlides/notesSlide{number_in(name)}.xml"
        if notes in names:
            print("Notes: " + " ".join(lines_of(archive.read(notes))))


def number_in(name):
    return int(re.search(r"(\d+)\.xml", name)[1])


def lines_of(xml):
    if b"<!DOCTYPE" in xml[:4096]:
        raise SystemExit("The file has a document type, which no program writes: it is not read.")
    drawing = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
    paragraphs = ElementTree.fromstring(xml).iter(f"{drawing}p")
    lines = ["".join(node.text or "" for node in paragraph.iter(f"{drawing}t")) for paragraph in paragraphs]
    return [line for line in lines if line.strip()]


if __name__ == "__main__":
    sys.exit(main())
