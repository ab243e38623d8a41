#!/usr/bin/env python3
"""Draws a chart as a PNG picture from a CSV file: the first column names the bars or points, each further one is a series."""

import argparse
import csv
import importlib
import os
import shutil
import subprocess
import sys
import tempfile

COLOURS = ["1F4E79", "ED7D31", "70AD47", "FFC000", "5B9BD5", "7F7F7F"]
WIDTH, HEIGHT = 900, 500
FONTS = "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="a CSV file with a header")
    parser.add_argument("output", help="such as chart.png")
    parser.add_argument("--kind", choices=["bar", "line", "pie"], default="bar")
    parser.add_argument("--title", default="")
    arguments = parser.parse_args()
    names, labels, series = read_data(arguments.data)
    for package, module in [("python3-reportlab", "reportlab"), ("python3-renderpm", "reportlab.graphics._renderPM")]:
        try:
            importlib.import_module(module)
        except ImportError:
            raise SystemExit(f"The package {package} is missing: ask the operator to install it (`npm run setup:system`).")
    if not shutil.which("pdftoppm"):
        raise SystemExit("The package poppler-utils is missing: ask the operator to install it (`npm run setup:system`).")
    from reportlab.graphics import renderPDF

    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "chart.pdf")
        renderPDF.drawToFile(draw(arguments, names, labels, series), page)
        picture = os.path.join(folder, "chart")
        subprocess.run(["pdftoppm", "-png", "-singlefile", "-r", "144", page, picture], check=True)
        shutil.copyfile(f"{picture}.png", arguments.output)
    print(f"{arguments.output}, {arguments.kind} chart of {len(labels)} values in {len(series)} series")
    if arguments.kind == "pie" and len(series) > 1:
        print(f"Note: a pie shows one series, here {names[0]}.")


def read_data(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise SystemExit(f"{path} needs a header, a column of names and a column of numbers.")
    header, *body = rows
    try:
        series = [[float(row[column]) for row in body] for column in range(1, len(header))]
    except (ValueError, IndexError):
        raise SystemExit("Every cell after the first column must be a number with a point, such as 1234.5.")
    return header[1:], [row[0] for row in body], series


def draw(arguments, names, labels, series):
    from reportlab.graphics.charts.barcharts import VerticalBarChart
    from reportlab.graphics.charts.legends import Legend
    from reportlab.graphics.charts.linecharts import HorizontalLineChart
    from reportlab.graphics.charts.piecharts import Pie
    from reportlab.graphics.shapes import Drawing, Rect, String
    from reportlab.lib.colors import HexColor, white

    font = font_name()
    colours = [HexColor(f"#{colour}") for colour in COLOURS]
    drawing = Drawing(WIDTH, HEIGHT)
    drawing.add(Rect(0, 0, WIDTH, HEIGHT, fillColor=white, strokeColor=None))
    drawing.add(String(WIDTH / 2, HEIGHT - 34, arguments.title, textAnchor="middle", fontName=font, fontSize=20))
    chart = {"bar": VerticalBarChart, "line": HorizontalLineChart, "pie": Pie}[arguments.kind]()
    if arguments.kind == "pie":
        chart.x, chart.y, chart.width, chart.height = WIDTH / 2 - 170, 60, 340, 340
        chart.data, chart.labels, chart.sideLabels = series[0], labels, True
        chart.slices.fontName, chart.slices.fontSize = font, 13
        for at in range(len(labels)):
            chart.slices[at].fillColor = colours[at % len(colours)]
    else:
        chart.x, chart.y, chart.width, chart.height = 80, 90, WIDTH - 120, HEIGHT - 170
        chart.data, chart.categoryAxis.categoryNames = series, labels
        for axis in (chart.categoryAxis, chart.valueAxis):
            axis.labels.fontName, axis.labels.fontSize = font, 13
        chart.valueAxis.valueMin = min(0, min(min(values) for values in series))
        chart.valueAxis.visibleGrid, chart.valueAxis.gridStrokeColor = True, HexColor("#DDDDDD")
        shapes = chart.bars if arguments.kind == "bar" else chart.lines
        for at in range(len(series)):
            colour = colours[at % len(colours)]
            if arguments.kind == "bar":
                shapes[at].fillColor, shapes[at].strokeColor = colour, None
            else:
                shapes[at].strokeColor, shapes[at].strokeWidth = colour, 3
        legend = Legend()
        legend.x, legend.y, legend.fontName, legend.fontSize = 80, 40, font, 13
        legend.columnMaximum, legend.deltax, legend.alignment = 1, 120, "right"
        legend.colorNamePairs = [(colours[at % len(colours)], name) for at, name in enumerate(names)]
        drawing.add(legend)
    drawing.add(chart)
    return drawing


def font_name():
    """A font with every letter of Europe; the built-in one has those of its west alone."""
    if not os.path.exists(FONTS):
        return "Helvetica"
    from reportlab.pdfbase.pdfmetrics import registerFont
    from reportlab.pdfbase.ttfonts import TTFont

    registerFont(TTFont("Liberation Sans", FONTS))
    return "Liberation Sans"


if __name__ == "__main__":
    sys.exit(main())
