#!/usr/bin/env python3
"""Lists the fields of a PDF form, or fills them in, with the package python3-pypdf."""

import argparse
import json
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="the form")
    parser.add_argument("--values", help='a JSON file such as {"name": "Ada", "agree": true}; absent: the fields are listed')
    parser.add_argument("--output", help="the filled form, such as filled.pdf")
    arguments = parser.parse_args()
    try:
        import pypdf
    except ImportError:
        raise SystemExit("The package python3-pypdf is missing: ask the operator to install it (`npm run setup:system`).")
    try:
        reader = pypdf.PdfReader(arguments.file)
        fields = {} if reader.is_encrypted else reader.get_fields() or {}
    except Exception as error:  # pypdf fails on a damaged file with whatever the damage makes it fail with
        raise SystemExit(f"{arguments.file} cannot be read as a PDF: {type(error).__name__} {error}.")
    if reader.is_encrypted:
        raise SystemExit("The PDF is protected with a password: ask for a copy without one.")
    if not fields:
        raise SystemExit("The PDF has no form fields: write what belongs into it as a document of its own.")
    if arguments.values is None:
        return list_fields(fields)
    if arguments.output is None:
        raise SystemExit("--output is missing: where to write the filled form.")
    with open(arguments.values, encoding="utf-8") as file:
        values = json.load(file)
    unknown = [name for name in values if name not in fields]
    if unknown:
        raise SystemExit(f"There is no field {', '.join(unknown)}. The fields are: {', '.join(fields)}.")
    fill(pypdf, reader, {name: as_field(name, value, fields[name]) for name, value in values.items()}, arguments.output)
    left = [name for name in fields if name not in values]
    print(f"{arguments.output}, {len(values)} fields filled" + (f"; left as they were: {', '.join(left)}" if left else ""))


KINDS = {"/Tx": "text", "/Btn": "box", "/Ch": "choice", "/Sig": "signature"}


def list_fields(fields):
    for name, field in fields.items():
        kind = KINDS.get(field.get("/FT"), "field")
        options = field.get("/_States_") or field.get("/Opt")
        print(f"{name}: {kind}, now {field.get('/V')!r}" + (f", one of {[str(each) for each in options]}" if options else ""))


def as_field(name, value, field):
    """A box is ticked with true; its own word for that differs from form to form."""
    if field.get("/FT") != "/Btn":
        return str(value)
    states = [str(state) for state in field.get("/_States_", []) if str(state) != "/Off"]
    if value in (True, "true", "yes", "on"):
        return states[0] if states else "/Yes"
    if value in (False, None, "", "false", "no", "off"):
        return "/Off"
    if f"/{str(value).lstrip('/')}" in states:
        return f"/{str(value).lstrip('/')}"
    raise SystemExit(f"The box {name} takes true, false or one of {states}.")


def fill(pypdf, reader, values, output):
    from pypdf.generic import BooleanObject, DictionaryObject, NameObject, TextStringObject

    writer = pypdf.PdfWriter()
    writer.clone_document_from_reader(reader)
    for page in writer.pages:
        for annotation in page.get("/Annots") or []:
            widget = annotation.get_object()
            field = widget if "/T" in widget else widget.get("/Parent", DictionaryObject()).get_object()
            name = full_name(field)
            if name not in values:
                continue
            if field.get("/FT") == "/Btn":
                state = values[name] if values[name] in widget.get("/AP", {}).get("/N", {}) else "/Off"
                widget[NameObject("/AS")] = NameObject(state)
                field[NameObject("/V")] = NameObject(values[name])
            else:
                field[NameObject("/V")] = TextStringObject(values[name])
                # Which option was chosen before: some programs believe it more than the value.
                field.pop("/I", None)
                draw_text(pypdf, writer, widget, values[name])
    # Programs that draw fields themselves draw them again; the text above is for all others.
    writer._root_object["/AcroForm"].get_object()[NameObject("/NeedAppearances")] = BooleanObject(True)
    with open(output, "wb") as file:
        writer.write(file)


def full_name(field):
    parent = field.get("/Parent")
    own = str(field.get("/T", ""))
    return f"{full_name(parent.get_object())}.{own}" if parent is not None and "/T" in parent.get_object() else own


def draw_text(pypdf, writer, widget, text):
    """The appearance of the field in programs without forms: its text, in a plain font, in its box."""
    from pypdf.generic import DecodedStreamObject, DictionaryObject, FloatObject, NameObject, ArrayObject

    left, bottom, right, top = (float(edge) for edge in widget["/Rect"])
    size = max(6.0, min(12.0, (top - bottom) * 0.7))
    lines = [line.encode("cp1252", errors="replace") for line in text.splitlines() or [""]]
    drawn = b""
    for line in lines:
        escaped = line.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        drawn += b"(" + escaped + b") Tj T* "
    start = (top - bottom - size) / 2 + 1 if len(lines) == 1 else top - bottom - size - 2
    stream = DecodedStreamObject()
    stream.set_data(f"/Tx BMC q BT /Helv {size:.1f} Tf {size * 1.15:.1f} TL 0 g 2 {start:.1f} Td ".encode() + drawn + b"ET Q EMC")
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica", "/Encoding": "/WinAnsiEncoding"}
    fonts = DictionaryObject({NameObject(key): NameObject(value) for key, value in font.items()})
    stream.update(
        {
            NameObject("/Type"): NameObject("/XObject"),
            NameObject("/Subtype"): NameObject("/Form"),
            NameObject("/BBox"): ArrayObject([FloatObject(0), FloatObject(0), FloatObject(right - left), FloatObject(top - bottom)]),
            NameObject("/Resources"): DictionaryObject(
                {NameObject("/Font"): DictionaryObject({NameObject("/Helv"): fonts})}
            ),
        }
    )
    widget[NameObject("/AP")] = DictionaryObject({NameObject("/N"): writer._add_object(stream)})


if __name__ == "__main__":
    sys.exit(main())
