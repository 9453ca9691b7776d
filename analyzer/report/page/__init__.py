"""One page that explains runs: self-contained HTML with charts and a timeline that can be zoomed."""

from analyzer.report.matplotlib_setup import prepare

prepare()  # all that draws is in here, and imports matplotlib
