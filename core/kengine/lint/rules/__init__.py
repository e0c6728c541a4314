"""The core's rules, one a file; a rule that is not listed here does not run."""

from __future__ import annotations

from kengine.lint.rule import Rule
from kengine.lint.rules import (
    ke101_reads_reference,
    ke102_plain_framework_code,
    ke103_result_discarded,
    ke104_copies_reference,
    ke105_patches_module,
    ke106_runs_built_text,
    ke107_walks_frames,
    ke108_starts_processes,
    ke109_starts_threads,
    ke110_uses_network,
    ke111_uses_native_memory,
    ke113_subclasses_tensor,
    ke114_takes_over_dispatch,
    ke115_delegates_to_compiler,
    ke116_uses_kernel_library,
    ke118_asks_where_it_runs,
    ke119_touches_files,
    ke122_caches_by_identity,
    ke124_falls_back,
    ke125_hides_names,
    ke201_lowers_precision,
    ke202_sets_global_state,
    ke301_patches_clock,
    ke302_uses_side_stream,
    ke303_reads_clock,
)

_MODULES = (
    ke101_reads_reference,
    ke102_plain_framework_code,
    ke103_result_discarded,
    ke104_copies_reference,
    ke105_patches_module,
    ke106_runs_built_text,
    ke107_walks_frames,
    ke108_starts_processes,
    ke109_starts_threads,
    ke110_uses_network,
    ke111_uses_native_memory,
    ke113_subclasses_tensor,
    ke114_takes_over_dispatch,
    ke115_delegates_to_compiler,
    ke116_uses_kernel_library,
    ke118_asks_where_it_runs,
    ke119_touches_files,
    ke122_caches_by_identity,
    ke124_falls_back,
    ke125_hides_names,
    ke201_lowers_precision,
    ke202_sets_global_state,
    ke301_patches_clock,
    ke302_uses_side_stream,
    ke303_reads_clock,
)

RULES: tuple[Rule, ...] = tuple(module.RULE for module in _MODULES)
"""Every rule of the core, in order of their codes."""
