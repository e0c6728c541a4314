"""Memory of one call and what it holds."""

from __future__ import annotations

from kengine.provenance.ledger import FOREIGN, INPUT, KERNEL, PARAMETER, Ledger, Piece


def piece(start: int, size: int = 16) -> Piece:
    return Piece(start, start + size, size, None)


def test_what_is_settled_holds_parameters_and_constants_and_nothing_else() -> None:
    ledger = Ledger()
    for start, flags in ((0x100, PARAMETER), (0x200, 0), (0x300, INPUT | PARAMETER), (0x400, FOREIGN), (0x500, KERNEL)):
        ledger.enter(piece(start), flags, "somebody")
    assert ledger.is_settled([piece(0x100), piece(0x200)])
    for start in (0x300, 0x400, 0x500, 0x900):
        assert not ledger.is_settled([piece(0x100), piece(start)])


def test_memory_whose_address_is_known_to_somebody_is_not_settled() -> None:
    ledger = Ledger()
    ledger.enter(piece(0x200), 0, "aten::zeros")
    ledger.export(piece(0x200), "data")
    assert ledger.is_settled([piece(0x200)])
    ledger.export(piece(0x200), "address")
    assert not ledger.is_settled([piece(0x200)]) and ledger.facts([]).addressed_bytes == 0


def test_what_has_the_form_of_an_array_holds_nothing_of_it() -> None:
    ledger = Ledger()
    ledger.enter(piece(0x100), INPUT, "arg 0")
    for n, name in enumerate(("aten::empty_like", "aten::new_zeros", "aten::full_like", "aten::empty_strided")):
        ledger.operation(name, [piece(0x100)], [piece(0x200 + 16 * n)])
        assert ledger.flags([piece(0x200 + 16 * n)]) == 0
    assert ledger.facts([]).operators == ledger.facts([]).moved == ()
    ledger.operation("aten::add", [piece(0x100)], [piece(0x300)])
    assert ledger.flags([piece(0x300)]) == INPUT
    assert [use.name for use in ledger.facts([]).operators] == ["aten::add"]


def test_memory_that_nobody_has_written_to_is_noted_when_a_kernel_reads_it() -> None:
    ledger = Ledger()
    ledger.enter(piece(0x100), INPUT, "arg 0")
    ledger.enter(piece(0x200), 0, "destination")
    ledger.enter(piece(0x300), 0, "aten::empty")
    ledger.enter(piece(0x400), 0, "aten::zeros")
    ledger.kernel("k", [piece(n) for n in (0x100, 0x200, 0x300, 0x400)], [piece(0x200)])
    assert ledger.facts([]).unwritten_bytes == 16, "the scratch memory alone: what it wrote to and zeros are not"


def test_a_part_of_a_block_changes_what_the_block_holds() -> None:
    ledger = Ledger()
    ledger.enter(piece(0x100, 64), PARAMETER, "aten::mul")
    ledger.enter(piece(0x110, 16), INPUT, "aten::add_")
    assert ledger.starts == [0x100] and ledger.flags([piece(0x100, 64)]) == INPUT | PARAMETER
    assert ledger.find(0x138).writer == "aten::add_"
    strided = Piece(0x100, 0x140, 32, None)  # every other element: the rest stays
    ledger.enter(strided, 0, "aten::fill_")
    assert ledger.flags([piece(0x100, 64)]) == INPUT | PARAMETER
    ledger.enter(piece(0x100, 64), 0, "aten::zero_")
    assert ledger.flags([piece(0x100, 64)]) == 0, "written as a whole, it holds nothing of before"


def test_only_what_leaves_of_inputs_is_counted() -> None:
    ledger = Ledger()
    for start, flags in ((0x100, INPUT), (0x200, PARAMETER), (0x300, KERNEL), (0x400, 0)):
        ledger.enter(piece(start), flags, "somebody")
        for way in ("data", "address", "array"):
            ledger.export(piece(start), way)
    facts = ledger.facts([])
    assert (facts.exported_bytes, facts.addressed_bytes, facts.array_bytes) == (16, 16, 16)
