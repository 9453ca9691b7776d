"""One page that explains runs: self-contained HTML with charts and a timeline that can be zoomed."""

from analyzer.report.drawing import prepare

prepare()  # all that draws is in here, and imports matplotlib
