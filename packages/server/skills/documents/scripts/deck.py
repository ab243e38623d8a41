#!/usr/bin/env python3
"""Makes a PowerPoint deck (.pptx) from an outline in Markdown: # title, ## slides, - points, | tables |, ![](pictures)."""

import argparse
import os
import re
import sys
import zipfile
from xml.sax.saxutils import escape

EMU = 914400
WIDTH, HEIGHT = 12192000, 6858000
MARGIN = int(0.6 * EMU)
TOP = int(1.5 * EMU)
MOST_POINTS = 8


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("outline", help="a Markdown file")
    parser.add_argument("output", help="such as deck.pptx")
    parser.add_argument("--colour", default="1F4E79", help="of titles and table heads, as six hex digits")
    arguments = parser.parse_args()
    if not re.fullmatch(r"[0-9A-Fa-f]{6}", arguments.colour):
        raise SystemExit("--colour takes six hex digits, such as 1F4E79.")
    with open(arguments.outline, encoding="utf-8") as file:
        slides = read_outline(file.read())
    if not slides:
        raise SystemExit("The outline has no slide: begin one with # or ##.")
    folder = os.path.dirname(os.path.abspath(arguments.outline))
    write_deck(slides, folder, arguments.output, arguments.colour.upper())
    print(f"{arguments.output}, {len(slides)} slides")
    for number, slide in enumerate(slides, 1):
        if len(slide["points"]) > MOST_POINTS:
            print(f"Note: slide {number} has {len(slide['points'])} points, more than fit well: make it two.")


def read_outline(text):
    slides = []
    for line in text.splitlines():
        heading = re.match(r"(#{1,2})\s+(.+)", line)
        if heading:
            slides.append({"is_title": heading[1] == "#", "title": plain(heading[2]), "points": [], "rows": [], "pictures": []})
            continue
        if not slides or not line.strip():
            continue
        slide = slides[-1]
        picture = re.match(r"\s*!\[[^\]]*\]\(([^)]+)\)", line)
        if picture:
            slide["pictures"].append(picture[1])
        elif line.strip().startswith("|"):
            cells = [plain(cell) for cell in line.strip().strip("|").split("|")]
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                slide["rows"].append(cells)
        else:
            point = re.match(r"(\s*)(?:[-*+]|\d+\.)\s+(.+)", line)
            level = min(len(point[1].expandtabs(4)) // 2, 3) if point else 0
            slide["points"].append((level, plain(point[2] if point else line)))
    return slides


def plain(text):
    """Without marks of Markdown, and without characters that no XML may hold."""
    return re.sub(r"\*\*|__|`|[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", text).strip()


# --- Parts of the file -----------------------------------------------------------------------------

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMES = f'xmlns:a="{A}" xmlns:r="{R}" xmlns:p="{P}"'
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
TYPE = "application/vnd.openxmlformats-officedocument.presentationml."
TREE = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'


def write_deck(slides, folder, output, colour):
    media = []
    parts = {
        "_rels/.rels": relations([("officeDocument", "ppt/presentation.xml")]),
        "ppt/presentation.xml": presentation(len(slides)),
        "ppt/_rels/presentation.xml.rels": relations(
            [("slideMaster", "slideMasters/slideMaster1.xml"), ("theme", "theme/theme1.xml")]
            + [("slide", f"slides/slide{number}.xml") for number in range(1, len(slides) + 1)]
        ),
        "ppt/theme/theme1.xml": theme(colour),
        "ppt/slideMasters/slideMaster1.xml": master(colour),
        "ppt/slideMasters/_rels/slideMaster1.xml.rels": relations(
            [("slideLayout", "../slideLayouts/slideLayout1.xml"), ("slideLayout", "../slideLayouts/slideLayout2.xml"), ("theme", "../theme/theme1.xml")]
        ),
        "ppt/slideLayouts/slideLayout1.xml": layout("title", "Title", placeholder(2, "ctrTitle", 0, "Title") + placeholder(3, "subTitle", 1, "Subtitle")),
        "ppt/slideLayouts/slideLayout2.xml": layout("obj", "Title and content", placeholder(2, "title", 0, "Title") + placeholder(3, "body", 1, "Content")),
    }
    for number in (1, 2):
        parts[f"ppt/slideLayouts/_rels/slideLayout{number}.xml.rels"] = relations([("slideMaster", "../slideMasters/slideMaster1.xml")])
    for number, slide in enumerate(slides, 1):
        xml, linked = slide_xml(slide, folder, media)
        parts[f"ppt/slides/slide{number}.xml"] = xml
        kind = 1 if slide["is_title"] else 2
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations([("slideLayout", f"../slideLayouts/slideLayout{kind}.xml"), *linked])
    parts["[Content_Types].xml"] = content_types(parts)
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(parts, key=lambda name: name != "[Content_Types].xml"):
            archive.writestr(name, HEAD + parts[name])
        for name, path in media:
            archive.write(path, f"ppt/media/{name}")


def relations(targets):
    lines = "".join(
        f'<Relationship Id="rId{at}" Type="{R}/{kind}" Target="{target}"/>' for at, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{lines}</Relationships>'


def content_types(parts):
    kinds = {"slides/": "slide", "slideLayouts/": "slideLayout", "slideMasters/": "slideMaster", "presentation.xml": "presentation.main"}
    lines = []
    for name in parts:
        kind = next((kind for start, kind in kinds.items() if name.startswith(f"ppt/{start}") and "_rels" not in name), None)
        if kind:
            lines.append(f'<Override PartName="/{name}" ContentType="{TYPE}{kind}+xml"/>')
    theme_type = "application/vnd.openxmlformats-officedocument.theme+xml"
    return (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>'
        '<Default Extension="jpeg" ContentType="image/jpeg"/>'
        f'<Override PartName="/ppt/theme/theme1.xml" ContentType="{theme_type}"/>{"".join(lines)}</Types>'
    )


def presentation(count):
    slides = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number + 2}"/>' for number in range(1, count + 1))
    return (
        f'<p:presentation {NAMES}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst>'
        f'<p:sldIdLst>{slides}</p:sldIdLst><p:sldSz cx="{WIDTH}" cy="{HEIGHT}"/><p:notesSz cx="{HEIGHT}" cy="{WIDTH}"/></p:presentation>'
    )


def theme(colour):
    colours = {"dk1": "262626", "lt1": "FFFFFF", "dk2": colour, "lt2": "F2F2F2", "accent1": colour, "accent2": "ED7D31"}
    colours |= {"accent3": "70AD47", "accent4": "FFC000", "accent5": "5B9BD5", "accent6": "7F7F7F", "hlink": "0563C1", "folHlink": "954F72"}
    scheme = "".join(f'<a:{name}><a:srgbClr val="{value}"/></a:{name}>' for name, value in colours.items())
    font = '<a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/>'
    fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
    line = f'<a:ln w="9525">{fill}</a:ln>'
    return (
        f'<a:theme xmlns:a="{A}" name="Deck"><a:themeElements><a:clrScheme name="Deck">{scheme}</a:clrScheme>'
        f'<a:fontScheme name="Deck"><a:majorFont>{font}</a:majorFont><a:minorFont>{font}</a:minorFont></a:fontScheme>'
        f'<a:fmtScheme name="Deck"><a:fillStyleLst>{fill * 3}</a:fillStyleLst>'
        f'<a:lnStyleLst>{line * 3}</a:lnStyleLst>'
        f'<a:effectStyleLst>{"<a:effectStyle><a:effectLst/></a:effectStyle>" * 3}</a:effectStyleLst>'
        f'<a:bgFillStyleLst>{fill * 3}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>'
    )


def master(colour):
    title = f'<a:lvl1pPr algn="l"><a:defRPr sz="3200" b="1"><a:solidFill><a:srgbClr val="{colour}"/></a:solidFill><a:latin typeface="+mj-lt"/></a:defRPr></a:lvl1pPr>'
    levels = "".join(
        f'<a:lvl{at}pPr marL="{at * 285750}" indent="-285750"><a:spcBef><a:spcPts val="600"/></a:spcBef><a:buChar char="•"/>'
        f'<a:defRPr sz="{2200 - at * 200}"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill><a:latin typeface="+mn-lt"/></a:defRPr></a:lvl{at}pPr>'
        for at in range(1, 5)
    )
    mapping = 'bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"'
    return (
        f'<p:sldMaster {NAMES}><p:cSld><p:bg><p:bgRef idx="1001"><a:schemeClr val="bg1"/></p:bgRef></p:bg><p:spTree>{TREE}'
        f'{placeholder(2, "title", 0, "Title")}{placeholder(3, "body", 1, "Content")}</p:spTree></p:cSld><p:clrMap {mapping}/>'
        '<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/><p:sldLayoutId id="2147483650" r:id="rId2"/></p:sldLayoutIdLst>'
        f'<p:txStyles><p:titleStyle>{title}</p:titleStyle><p:bodyStyle>{levels}</p:bodyStyle><p:otherStyle/></p:txStyles></p:sldMaster>'
    )


def layout(kind, name, shapes):
    return (
        f'<p:sldLayout {NAMES} type="{kind}" preserve="1"><p:cSld name="{name}"><p:spTree>{TREE}{shapes}</p:spTree></p:cSld>'
        '<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>'
    )


# Where the kinds of text stand: left, top, width, height.
PLACES = {
    "title": (MARGIN, int(0.4 * EMU), WIDTH - 2 * MARGIN, int(0.9 * EMU)),
    "body": (MARGIN, TOP, WIDTH - 2 * MARGIN, HEIGHT - TOP - MARGIN),
    "ctrTitle": (MARGIN, int(2.3 * EMU), WIDTH - 2 * MARGIN, int(1.3 * EMU)),
    "subTitle": (MARGIN, int(3.7 * EMU), WIDTH - 2 * MARGIN, int(1.5 * EMU)),
}


def frame(place, tag="a:xfrm"):
    left, top, width, height = place
    return f'<{tag}><a:off x="{left}" y="{top}"/><a:ext cx="{width}" cy="{height}"/></{tag}>'


def placeholder(number, kind, index, name, paragraphs="<a:p/>", place=None):
    numbered = f' idx="{index}"' if index else ""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{name}"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr>'
        f'<p:nvPr><p:ph type="{kind}"{numbered}/></p:nvPr></p:nvSpPr><p:spPr>{frame(place or PLACES[kind])}</p:spPr>'
        f'<p:txBody><a:bodyPr><a:normAutofit/></a:bodyPr><a:lstStyle/>{paragraphs}</p:txBody></p:sp>'
    )


def paragraph(text, level=0):
    indent = f'<a:pPr lvl="{level}"/>' if level else ""
    return f'<a:p>{indent}<a:r><a:rPr lang="en-US"/><a:t>{escape(text)}</a:t></a:r></a:p>'


def slide_xml(slide, folder, media):
    heading, text = ("ctrTitle", "subTitle") if slide["is_title"] else ("title", "body")
    shapes = placeholder(2, heading, 0, "Title", paragraph(slide["title"]))
    left, top, width, height = PLACES[text]
    extras = slide["pictures"] + ([slide["rows"]] if slide["rows"] else [])
    if slide["points"]:
        own = (left, top, width // 2 - MARGIN // 2 if extras else width, height)
        points = "".join(paragraph(point, level) for level, point in slide["points"])
        shapes += placeholder(3, text, 1, "Content", points, own)
    if slide["points"] and extras:
        left, width = left + width // 2 + MARGIN // 2, width // 2 - MARGIN // 2
    linked = []
    for at, extra in enumerate(extras):
        place = (left, top + height * at // len(extras), width, height // len(extras))
        if isinstance(extra, str):
            name = f"picture{len(media) + 1}"
            kind, size = picture_of(os.path.join(folder, extra))
            media.append((f"{name}.{kind}", os.path.join(folder, extra)))
            linked.append(("image", f"../media/{name}.{kind}"))
            shapes += picture_xml(4 + at, extra, len(linked) + 1, fitted(size, place))
        else:
            shapes += table_xml(4 + at, extra, place)
    xml = f'<p:sld {NAMES}><p:cSld><p:spTree>{TREE}{shapes}</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>'
    return xml, linked


def picture_of(path):
    try:
        from PIL import Image
    except ImportError:
        raise SystemExit("The package python3-pil is missing: ask the operator to install it (`npm run setup:system`).")
    try:
        with Image.open(path) as image:
            if image.format not in ("PNG", "JPEG"):
                raise SystemExit(f"{path} is a {image.format} picture: save it as PNG or JPEG.")
            return image.format.lower(), image.size
    except OSError as error:
        raise SystemExit(f"The picture {path} cannot be read: {error}.")


def fitted(size, place):
    """As large as the place allows, with its own proportions, in the middle."""
    left, top, width, height = place
    scale = min(width / size[0], height / size[1])
    shown = (int(size[0] * scale), int(size[1] * scale))
    return (left + (width - shown[0]) // 2, top + (height - shown[1]) // 2, *shown)


def picture_xml(number, name, relation, place):
    label = escape(os.path.basename(name), {'"': ""})
    return (
        f'<p:pic><p:nvPicPr><p:cNvPr id="{number}" name="{label}"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
        f'<p:blipFill><a:blip r:embed="rId{relation}"/><a:stretch><a:fillRect/></a:stretch></p:blipFill>'
        f'<p:spPr>{frame(place)}<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>'
    )


def table_xml(number, rows, place):
    left, top, width, _height = place
    columns = max(len(row) for row in rows)
    row_height = 370840
    grid = f'<a:gridCol w="{width // columns}"/>' * columns
    cells = ""
    for at, row in enumerate(rows):
        cells += f'<a:tr h="{row_height}">'
        for text in row + [""] * (columns - len(row)):
            look = '<a:rPr lang="en-US" sz="1400" b="1"><a:solidFill><a:schemeClr val="bg1"/></a:solidFill></a:rPr>' if at == 0 else '<a:rPr lang="en-US" sz="1400"/>'
            fill = '<a:schemeClr val="accent1"/>' if at == 0 else '<a:schemeClr val="bg2"/>' if at % 2 == 0 else '<a:schemeClr val="bg1"/>'
            cells += f'<a:tc><a:txBody><a:bodyPr/><a:lstStyle/><a:p><a:r>{look}<a:t>{escape(text)}</a:t></a:r></a:p></a:txBody><a:tcPr><a:solidFill>{fill}</a:solidFill></a:tcPr></a:tc>'
        cells += "</a:tr>"
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="{number}" name="Table"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>'
        f'{frame((left, top, width, row_height * len(rows)), "p:xfrm")}<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table">'
        f'<a:tbl><a:tblPr firstRow="1"/><a:tblGrid>{grid}</a:tblGrid>{cells}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>'
    )


if __name__ == "__main__":
    main()
