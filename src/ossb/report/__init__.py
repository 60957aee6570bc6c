"""One self-contained HTML page of an experiment, to explore offline."""

from ossb.report.page import page, write_page

__all__ = ["page", "write_page"]
