"""What a report, jax.monitoring and the logger say."""

import json

TIMES = """
import json, time, jax, jax.numpy as jnp, numpy as np, precast.jax
durations = {}
jax.monitoring.register_event_duration_secs_listener(
    lambda event, seconds, **more: durations.setdefault(event, []).append(seconds))
x = np.ones((4, 4), np.float32)
def step(x):
    time.sleep(0.3)
    for _ in range(20):
        x = jnp.sin(x) @ x
    return x
jitted = precast.jax.jit(step)
jitted(x)
registry = precast.jax.Registry()
@registry.register("other", args=(x,))
def other(x):
    time.sleep(0.2)
    return jnp.cos(x) @ x
done = registry.compile_or_load()
traced = jax.jit(step).trace(x)
mine = precast.jax.report(precast.jax.compile_or_load(traced))
[first] = jitted.reports
print(json.dumps([first.outcome, first.seconds, done.reports["other"].seconds, mine.seconds, first.saved_seconds,
                  durations.get("/precast/time_saved"), durations["/precast/phase/trace"]]))
"""


def test_seconds_of_a_trace_are_those_that_were_seen(children):
    cold, warm = [json.loads(children.python("-c", TIMES).splitlines()[-1]) for _ in range(2)]
    for outcome, jitted, registered, mine, saved, told, traces in cold, warm:
        assert jitted["trace"] >= 0.3 and jitted["lower"] > 0
        assert registered["trace"] >= 0.2 and registered["lower"] > 0
        # It was traced before anybody was asked.
        assert "trace" not in mine
        assert traces == [jitted["trace"], registered["trace"]]
        if outcome == "miss":
            assert saved == 0 and told is None or told[0] != 0
        else:
            assert told[0] == saved
    assert (cold[0], warm[0]) == ("miss", "hit")
    # The compile's time, as the entry says it, less that of the hit.
    assert 0 < cold[1]["compile"] - warm[4] < cold[1]["compile"]


def test_the_logger_speaks_on_process_0_and_warns_elsewhere(children):
    said = json.loads(children.python("-c", """
import io, json, logging
stream = io.StringIO()
logging.basicConfig(stream=stream, format="%(levelname)s %(message)s")
from precast.jax._report import Report, logger
def tell(rank, level=None):
    logger.setLevel(logging.NOTSET if level is None else level)
    Report("hit", "none", name="fine", key="ab" * 32).tell(rank)
    Report("miss", "entry_corrupt", name="bad", key="cd" * 32).tell(rank)
    said = stream.getvalue().splitlines()
    stream.seek(0), stream.truncate()
    return said
print(json.dumps([tell(0), tell(3), tell(3, logging.INFO), tell(0, logging.ERROR)]))
""").splitlines()[-1])
    fine, bad = "INFO rank {}: hit fine, abababababab", "WARNING rank {}: miss (entry_corrupt) bad, cdcdcdcdcdcd"
    assert said == [[fine.format(0), bad.format(0)], [bad.format(3)], [fine.format(3), bad.format(3)], []]


def test_a_report_keeps_no_executable_and_says_sizes_while_there_is_one(children):
    said = json.loads(children.python("-c", """
import gc, json, jax, jax.numpy as jnp, precast.jax
x = jnp.arange(4.0)
jax.clear_caches()
gc.collect()
client = jax.devices()[0].client
before = len(client.live_executables())
jitted = precast.jax.jit(lambda x, n: x * 2.5 + jnp.sin(n * x), static_argnums=1)
for n in range(3):
    jitted(x, n)
compiled = precast.jax.compile_or_load(jax.jit(lambda x: x * 2.5).trace(x))
mine = precast.jax.report(compiled)
again = precast.jax.report(precast.jax.compile_or_load(jax.jit(lambda x: x * 3.5).trace(x)))
said = [jitted.reports[0].argument_size, mine.output_size, mine.argument_size]
del compiled
jax.clear_caches()
gc.collect()
gone = jitted.reports[1]
said += [len(client.live_executables()) - before, jitted.reports[0].argument_size, mine.output_size]
print(json.dumps(said + [gone.argument_size, gone.flops, again.temp_size]))
""").splitlines()[-1])
    assert said == [16, 16, 16, 0, 16, 16, None, None, None]
