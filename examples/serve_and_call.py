"""A kengine server and two ways to call it: with the client, and with nothing but JSON over HTTP.

    pip install 'kernel-engine[server]'
    python serve_and_call.py

The server is started here, on a free port of this machine; in earnest it runs where the devices are:
`KENGINE_TOKEN=... kengine serve --backend triton --time --host 0.0.0.0`.
"""

import json
import signal
import subprocess
import sys
import urllib.request

from kengine import tasks
from kengine.client import Client, Settings

TASK = '''
import numpy

def make_inputs(seed, device, n=300):
    draw = numpy.random.default_rng(seed)
    return draw.standard_normal(n, dtype=numpy.float32), draw.standard_normal(n, dtype=numpy.float32)

def reference(x, y):
    return x + y
'''
KERNEL = '''
import numpy
from kengine.testing import toy

@toy.kernel
def add(program, x, y, out):
    part = slice(program * 64, min(program * 64 + 64, len(out)))
    out[part] = x[part] + y[part]

def candidate(x, y):
    out = numpy.empty_like(x)
    add[-(-len(out) // 64)](x, y, out)
    return out
'''
CANDIDATES = {"right": KERNEL, "wrong": KERNEL.replace("x[part] +", "x[part] -"), "broken": "def candidate(x, y:"}


def main():
    command = [sys.executable, "-m", "kengine.cli", "serve", "--target", "toy:cpu", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[-1]
        task = tasks.parse_task(TASK)
        with Client(Settings(url=url, deadline_s=60)) as client:
            judged = client.judge([tasks.pair(text, task) for text in CANDIDATES.values()])
        for name, verdict in zip(CANDIDATES, judged):
            print(f"client  {name:7} {verdict.status}")
        answer = post(f"{url}/verify", {
            "schema": "kengine.request/1", "id": "by-hand", "candidate_text": KERNEL, "task_text": TASK,
        })  # fmt: skip
        print(f"HTTP    right   {answer['verdict']['status']}: {answer['verdict']['message']}")
        with urllib.request.urlopen(f"{url}/metrics") as response:
            counted = [line for line in response.read().decode().splitlines() if line.startswith("kengine_verdicts_total")]
        print(*counted, sep="\n")
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(60)
    print("the server ended with", code)
    return judged, answer, code


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


if __name__ == "__main__":
    main()
