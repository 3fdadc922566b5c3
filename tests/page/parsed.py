"""A page as a browser without scripts would read it: tags, attributes, links, text."""

from __future__ import annotations

from html.parser import HTMLParser


def timeline_of(page: str) -> str:
    """The drawings of the timeline of a group's page, without the key, which has the same marks."""
    begin = page.index('class="tlbox"')
    drawn = page[begin : page.index("</section>", begin)]
    assert "tlkey" not in drawn
    return drawn


class Parsed(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.texts.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def attributes(self, name: str) -> list[str]:
        return [found[name] or "" for _, found in self.tags if name in found]

    def count(self, tag: str) -> int:
        return sum(found == tag for found, _ in self.tags)
