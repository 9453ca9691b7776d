"""Pictures of results as PNG or SVG files."""

from analyzer.report.matplotlib_setup import prepare

prepare()  # all that draws is in here, and imports matplotlib
