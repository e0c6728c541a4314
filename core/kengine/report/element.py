"""Building HTML as a tree, so that every text and attribute is escaped by the serializer and none by hand."""

from __future__ import annotations

from typing import Union
from xml.etree.ElementTree import Element, SubElement, tostring

from kengine.report.plain import clean

Content = Union[str, Element, None]


def element(tag: str, *content: Content, **attributes: str) -> Element:
    """One element. Texts are made safe with `clean`; a trailing underscore of an attribute is cut (`class_`)."""
    node = Element(tag, {key.rstrip("_").replace("_", "-"): clean(value) for key, value in attributes.items()})
    extend(node, *content)
    return node


def extend(node: Element, *content: Content) -> None:
    """Append texts and elements in order; None adds nothing."""
    for part in content:
        if part is None:
            continue
        if isinstance(part, str):
            last = node[-1] if len(node) else None
            if last is None:
                node.text = (node.text or "") + clean(part)
            else:
                last.tail = (last.tail or "") + clean(part)
        else:
            node.append(part)


def table(
    headers: list[str],
    rows: list[list[Content]],
    right: tuple[int, ...] = (),
    wide: tuple[int, ...] = (),
    names: tuple[int, ...] = (),
) -> Element:
    """A table; columns in `right` hold numbers, those in `wide` sentences and those in `names` names of any length."""
    kinds = {**dict.fromkeys(right, "number"), **dict.fromkeys(wide, "wide"), **dict.fromkeys(names, "name")}
    node = element("table")
    head = SubElement(SubElement(node, "thead"), "tr")
    for i, header in enumerate(headers):
        head.append(element("th", header, **({"class_": kinds[i]} if i in kinds else {})))
    body = SubElement(node, "tbody")
    for row in rows:
        line = SubElement(body, "tr")
        for i, cell in enumerate(row):
            line.append(element("td", cell, **({"class_": kinds[i]} if i in kinds else {})))
    return element("div", node, class_="scroll")


def render(node: Element) -> str:
    """Serialize as HTML."""
    return tostring(node, encoding="unicode", method="html")
