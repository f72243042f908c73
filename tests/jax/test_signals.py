"""A wait for another process's compile ends with Ctrl-C and SIGTERM."""

import signal
import subprocess
import sys

import pytest
from conftest import HERE

# The holder's compile lasts until it is killed; the other one waits for it.
PROGRAM = """
import sys, jax, jax.numpy as jnp, precast.jax
from precast.jax import _private, _request
traced = jax.jit(lambda x: jnp.sin(x) @ x).trace(jnp.ones((4, 4)))
_request.runtime_of(jax.devices()[0].client)
if sys.argv[1] == "hold":
    def forever(*args):
        print("compiling", flush=True)
        sys.stdin.read()
    _private.compile_and_load = forever
print("asking", flush=True)
try:
    compiled = precast.jax.compile_or_load(traced)
    print(precast.jax.report(compiled).outcome, precast.jax.report(compiled).reason, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
SECONDS = 60


def start(children, role):
    return subprocess.Popen([sys.executable, "-c", PROGRAM, role], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True, cwd=HERE,
                            env=children.environment())


@pytest.fixture
def pair(children):
    holder = start(children, "hold")
    for expected in ("asking", "compiling"):
        assert holder.stdout.readline().strip() == expected
    waiter = start(children, "wait")
    assert waiter.stdout.readline().strip() == "asking"
    with pytest.raises(subprocess.TimeoutExpired):
        waiter.wait(1)
    yield holder, waiter
    for process in (holder, waiter):
        process.kill()
        process.wait()


def test_ctrl_c_ends_a_wait(pair):
    holder, waiter = pair
    waiter.send_signal(signal.SIGINT)
    assert waiter.communicate(timeout=SECONDS)[0].strip() == "interrupted"
    assert holder.poll() is None


def test_sigterm_ends_a_wait(pair):
    holder, waiter = pair
    waiter.send_signal(signal.SIGTERM)
    assert waiter.wait(SECONDS) == -signal.SIGTERM
    assert holder.poll() is None


def test_a_holder_that_is_told_to_end_lets_the_others_go_on(pair):
    holder, waiter = pair
    holder.send_signal(signal.SIGTERM)
    assert holder.wait(SECONDS) == -signal.SIGTERM
    assert waiter.communicate(timeout=SECONDS)[0].split()[0] == "miss"
