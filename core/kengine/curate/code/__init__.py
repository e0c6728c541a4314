"""Code as a deduplication sees it: without what people change when they copy.

    tokens.py    text -> tokens: comments, docstrings, imports, layout, numbers and local names are gone
    shingles.py  tokens -> a digest of the whole, and short runs in which names are renamed inside each run
    sketch.py    many texts -> digests, sets of shingles and MinHash bands
    workers.py   the same in processes of their own
    bands.py     band keys on disk -> who may be near whom
    clusters.py  digests, bands and shingles -> the representative of every sample

Text is parsed with tree-sitter and never executed.
"""
