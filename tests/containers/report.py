"""The figures of a run, printed as tables when all tests are done."""

from collections.abc import Iterator

Row = tuple[object, ...]

IMAGES = ("image", "MB", "of these ours", "ready after s")
CHANGES = ("change", "under way", "moves", "repeated", "most tries", "lost", "seconds")
TITLES = {
    IMAGES: "Sizes of the images, and from a container's start to its readiness, one at a time",
    CHANGES: "Under load: requests under way when it began, moves and repeated requests until it was done",
}


class Report:
    """Rows by their heading."""

    def __init__(self) -> None:
        self._rows: dict[Row, list[Row]] = {}

    def add(self, heading: Row, *row: object) -> None:
        assert len(row) == len(heading)
        self._rows.setdefault(heading, []).append(row)

    def lines(self) -> Iterator[str]:
        for heading, rows in self._rows.items():
            table = [[_shown(cell) for cell in row] for row in (heading, *rows)]
            widths = [max(len(row[column]) for row in table) for column in range(len(heading))]
            yield ""
            yield TITLES[heading]
            for first, *rest in table:
                numbers = (cell.rjust(width + 2) for cell, width in zip(rest, widths[1:], strict=True))
                yield first.ljust(widths[0]) + "".join(numbers)


def _shown(cell: object) -> str:
    return f"{cell:.1f}" if isinstance(cell, float) else str(cell)
