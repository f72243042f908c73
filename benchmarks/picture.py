"""Pictures of bars and tables of pages, drawn from measured numbers."""

import re
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, BAR, ROW = 760, 200, 120, 16, 22


class Picture:
    def __init__(self):
        self.parts, self.y = [], 18

    def text(self, x, text, anchor="start", size=12, weight="normal"):
        self.parts.append(f'<text x="{x:.1f}" y="{self.y + BAR - 4}" text-anchor="{anchor}" font-size="{size}" '
                          f'font-weight="{weight}">{escape(text)}</text>')

    def heading(self, text):
        self.y += 8
        self.text(10, text, size=13, weight="bold")
        self.y += ROW

    def row(self, label, segments, end, scale):
        """One bar of (value, colour) segments, and what stands behind it."""
        self.text(LEFT - 8, label, "end")
        x = LEFT
        for value, colour in segments:
            width = value * scale
            self.parts.append(f'<rect x="{x:.2f}" y="{self.y}" width="{max(width, 0.3):.2f}" height="{BAR}" '
                              f'fill="{colour}"/>')
            x += width
        self.text(x + 6, end)
        self.y += ROW

    def save(self, path):
        height = self.y + 12
        path.write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
            f'font-family="sans-serif" fill="#222">\n<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n'
            + "\n".join(self.parts) + "\n</svg>\n")


def table(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "|---" * len(headings) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def write_tables(path, tables):
    """Replaces what stands between <!-- table: NAME --> and <!-- end --> in a page, for each name."""
    page = path.read_text()
    for name, text in tables.items():
        page, count = re.subn(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)",
                              lambda match, text=text: match[1] + "\n" + text + "\n\n" + match[2], page, flags=re.DOTALL)
        assert count == 1, name
    path.write_text(page)
