"""An HTML page that explains runs. It is one file with charts, and with a timeline that can be zoomed."""

from analyzer.report.matplotlib_setup import prepare

prepare()  # everything that draws imports this package first, and matplotlib later
