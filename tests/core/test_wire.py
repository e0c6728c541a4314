"""Messages between processes: what was sent arrives, everything else is refused and leaves no descriptor behind."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time

import pytest
from kengine import wire


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def open_descriptors():
    return set(os.listdir("/proc/self/fd"))


def raw(text):
    return struct.pack("!I", len(text)) + text


def test_a_message_and_its_descriptors_arrive(pair):
    ours, theirs = pair
    read, write = os.pipe()
    wire.send(ours, {"op": "x", "list": [1, None, "ä", 2.5]}, (write,))
    os.close(write)
    message, fds = wire.receive(theirs)
    assert message == {"op": "x", "list": [1, None, "ä", 2.5]} and len(fds) == 1
    os.write(fds[0], b"through")
    assert os.read(read, 10) == b"through"
    assert not os.get_inheritable(fds[0])
    wire.close_all(fds)
    assert fds == [] and os.read(read, 10) == b""
    os.close(read)


def test_a_large_message_arrives_whole(pair):
    ours, theirs = pair
    text = "x" * (5 << 20)
    sender = threading.Thread(target=wire.send, args=(ours, {"text": text}))
    sender.start()
    assert wire.receive(theirs)[0] == {"text": text}
    sender.join()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (raw(b"nonsense"), "bytes that are not JSON"),
        (raw(b"\xff\xfe"), "bytes that are not JSON"),
        (raw(b"[" * 100_000), "bytes that are not JSON"),
        (raw(b""), "bytes that are not JSON"),
        (raw(b"[1, 2]"), "peer sent list, expected an object"),
        (raw(b"7"), "peer sent int, expected an object"),
        (raw(b"null"), "peer sent NoneType"),
        (raw(b'{"a": NaN}'), "NaN is not JSON"),
        (raw(b'{"a": [-Infinity]}'), "-Infinity is not JSON"),
        (struct.pack("!I", wire.MAX_MESSAGE + 1), "the limit is"),
        (b"\xff\xff\xff\xff", "the limit is"),
    ],
)
def test_what_is_no_message_is_refused(pair, data, problem):
    ours, theirs = pair
    ours.sendall(data)
    with pytest.raises(wire.WireError, match=problem):
        wire.receive(theirs, time.monotonic() + 5)


@pytest.mark.parametrize("data", [raw(b"nonsense"), raw(b"[1]"), struct.pack("!I", wire.MAX_MESSAGE + 1)])
def test_descriptors_of_a_refused_message_are_closed(pair, data):
    ours, theirs = pair
    read, write = os.pipe()
    before = open_descriptors()
    socket.send_fds(ours, [data], [write] * 3)
    with pytest.raises(wire.WireError):
        wire.receive(theirs, time.monotonic() + 5)
    assert open_descriptors() == before
    os.close(read)
    os.close(write)


def test_more_descriptors_than_allowed_are_refused_and_closed(pair):
    ours, theirs = pair
    read, write = os.pipe()
    before = open_descriptors()
    data = raw(b'{"a": 1}')
    # Two lots in one message, so that neither is cut off on its way.
    socket.send_fds(ours, [data[:4]], [write] * wire.MAX_FDS)
    socket.send_fds(ours, [data[4:]], [write])
    with pytest.raises(wire.WireError, match=r"17 descriptors with one message, the limit is 16"):
        wire.receive(theirs, time.monotonic() + 5)
    assert open_descriptors() == before
    os.close(read)
    os.close(write)


def test_what_is_too_long_is_not_sent(pair):
    ours, theirs = pair
    ours.settimeout(2)
    with pytest.raises(wire.WireError, match="over the limit"):
        wire.send(ours, {"text": "x" * wire.MAX_MESSAGE})
    wire.send(ours, {"op": "after"})
    assert wire.receive(theirs)[0] == {"op": "after"}


def test_numbers_that_json_does_not_have_are_not_sent(pair):
    with pytest.raises(ValueError):
        wire.send(pair[0], {"x": float("nan")})


@pytest.mark.parametrize("part", [0, 2, 4, 7])
def test_the_deadline_counts_for_the_whole_message(pair, part):
    ours, theirs = pair
    ours.sendall(raw(b'{"a": 1}')[:part])
    begun = time.monotonic()
    with pytest.raises(wire.WireTimeout):
        wire.receive(theirs, begun + 0.1)
    assert 0.09 < time.monotonic() - begun < 3


def test_a_peer_that_drips_does_not_move_the_deadline(pair):
    ours, theirs = pair
    stop = threading.Event()

    def drip():
        for byte in raw(b'{"a": "' + b"x" * 1000 + b'"}'):
            if stop.wait(0.02):
                return
            ours.send(bytes([byte]))

    dripping = threading.Thread(target=drip)
    dripping.start()
    begun = time.monotonic()
    try:
        with pytest.raises(wire.WireTimeout):
            wire.receive(theirs, begun + 0.2)
        assert time.monotonic() - begun < 3
    finally:
        stop.set()
        dripping.join()


@pytest.mark.parametrize("part", [0, 2, 7])
def test_a_closed_channel_is_told_from_garbage(pair, part):
    ours, theirs = pair
    ours.sendall(raw(b'{"a": 1}')[:part])
    ours.close()
    with pytest.raises(wire.WireClosed):
        wire.receive(theirs, time.monotonic() + 5)
    with pytest.raises(wire.WireClosed):
        wire.send(theirs, {"a": 1})


def test_a_peer_that_does_not_read_is_waited_for_no_longer_than_told(pair):
    ours, _ = pair
    ours.settimeout(0.1)
    with pytest.raises(wire.WireTimeout, match="did not read"):
        for _ in range(50):
            wire.send(ours, {"text": "x" * (1 << 20)})
