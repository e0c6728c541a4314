"""The list of clusters, for people and for scripts: one line of JSON for each of more than one sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kengine.curate.code.model import I64
from kengine.errors import InfraError, UsageError

if TYPE_CHECKING:
    from kengine.curate.code.clusters import Clusters
    from kengine.curate.code.shelf import Shelf

SCHEMA = "kengine.cluster/1"
"""Schema of a line."""


def write_clusters(path: Path, shelf: Shelf, clusters: Clusters, order: I64) -> None:
    """Write the clusters, largest first, members best first. Raises UsageError, or InfraError when the disk is full."""
    rank: I64 = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    several = np.flatnonzero(clusters.sizes[clusters.representative] > 1)
    to = clusters.representative[several]
    several = several[np.lexsort((rank[several], rank[to], -clusters.sizes[to]))]
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = part.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error}") from error
    try:
        with file:
            at = 0
            while at < len(several):
                kept = int(clusters.representative[several[at]])
                size = int(clusters.sizes[kept])
                head = json.dumps({"schema": SCHEMA, "representative": shelf.name_of(kept), "size": size})
                file.write(f'{head[:-1]}, "members": [')
                members = (int(n) for n in several[at : at + size] if n != kept)
                for number, n in enumerate(members):
                    how = "exact" if clusters.exact[n] else "near"
                    member = {
                        "uid": shelf.name_of(n),
                        "how": how,
                        "similarity": round(float(clusters.similarity[n]), 4),
                    }
                    file.write(f"{', ' if number else ''}{json.dumps(member)}")
                file.write("]}\n")
                at += size
        part.replace(path)
    except OSError as error:
        raise InfraError(f"{path}: cannot be written: {error}; nothing is half-written") from error
    finally:
        part.unlink(missing_ok=True)
