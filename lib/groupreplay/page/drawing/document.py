"""A whole page around its content: head, policy, stylesheet, script, and packed data.

Every file is whole by itself: it asks nothing of anybody, and its policy lets just the one script
and the one stylesheet of this release act.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from datetime import date
from importlib import resources
from typing import Any, Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, join


def _asset(name: str) -> str:
    text = resources.files("groupreplay.page.drawing").joinpath(name).read_text(encoding="utf-8")
    if "</" in text or "<!--" in text:
        raise ValueError(f"{name} holds what would end its element")
    return text


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


CSS: Final = _asset("report.css")
JS: Final = _asset("report.js")

POLICY: Final = (
    f"default-src 'none'; script-src '{_hash(JS)}'; style-src '{_hash(CSS)}'; img-src data:; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""What the page may do: nothing but run the one script and use the one stylesheet."""


def document(title: str, body: Safe, data: dict[str, Any] | None = None, *, cls: str) -> str:
    """A page.

    data: data for the script, as text that cannot be markup whatever ids are in it.
    """
    head = join(
        [
            el("meta", charset="utf-8"),
            el("meta", http_equiv="Content-Security-Policy", content=POLICY),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="color-scheme", content="light dark"),
            el("meta", name="referrer", content="no-referrer"),
            el("meta", name="robots", content="noindex"),
            el("link", rel="icon", href="data:,"),
            el("title", title),
        ]
    )
    packed = "" if data is None else f'<script type="text/plain" id="data">{pack(data)}</script>'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{CSS}</style></head>'
        f'<body class="{cls}">{body}{packed}<script>{JS}</script></body></html>\n'
    )


def pack(data: dict[str, Any]) -> str:
    """gzip and base64 of JSON: 50,000 groups are 600 kB, and no id in it can be markup. The same
    data gives the same text.
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(text, 9, mtime=0)).decode()


def top(cluster: str, logical_date: date, as_of_ms: int, home: str | None = None) -> Safe:
    """The line at the head.

    home: link to the overview, None on the overview itself.
    """
    title = el("a", "groupreplay", href=home) if home else el("b", "groupreplay")
    return el(
        "header",
        el(
            "p",
            title,
            el("span", cluster, cls="cl"),
            el("span", f"night of {w.night(logical_date)} {logical_date.year}"),
            el("span", f"as of {w.at(as_of_ms)} UTC"),
            cls="bar",
        ),
    )


def slug(cluster: str, group_id: str) -> str:
    """Names the page of a group: no id of anybody is ever a path."""
    text = f"{cluster}\0{group_id}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:20]


def footer(version: str, cluster: str, logical_date: str) -> Safe:
    return el(
        "footer",
        el(
            "p",
            f"Written by groupreplay {version} for cluster {cluster}, night {logical_date}. Every"
            " number is a query on the tables of this warehouse; nothing on this page comes from"
            " anywhere else.",
        ),
    )
