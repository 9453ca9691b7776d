"""Pictures of results as PNG files."""

from analyzer.report.drawing import prepare

prepare()  # all that draws is in here, and imports matplotlib
