"""Verdicts for people: a table, one verdict in full, and a self-contained HTML page."""
