"""Trains the ranker with flax and optax, data parallel, with checkpoints by Orbax; one process.

    python trainer.py --work FOLDER --devices 0,1,2,3 --steps 12 --cache precast

It goes on from the last checkpoint in FOLDER where there is one. Every line it prints is a JSON object: one for each step, with
the loss as it is and as its exact bits, and one with the seconds of each phase up to the end of the first step. Nothing but
`first_step` knows which cache is in use.
"""

import time

started = time.time()  # overwritten by --started, which counts the start of Python as well

import argparse  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pathlib  # noqa: E402
import sys  # noqa: E402

import flax.linen as nn  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402
import orbax.checkpoint as ocp  # noqa: E402
from flax.training.train_state import TrainState  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ranker"))

from model import Config, Request, Weights, rank  # noqa: E402

CONFIG = Config(batch=16)
CHECKPOINT_EVERY = 4


def weight_shapes(config):
    layers, width, hidden = config.layers, config.width, config.hidden
    return Weights(
        item_embedding=(config.items, width), action_embedding=(config.actions, width), age_embedding=(width,),
        candidate_embedding=(width,), context_projection=(config.context, width), attention_norm=(layers, width),
        attention_in=(layers, width, 3 * width), attention_out=(layers, width, width), mlp_norm=(layers, width),
        mlp_in=(layers, width, 2 * hidden), mlp_out=(layers, hidden, width), head_norm=(width,), head=(width,))


class Ranker(nn.Module):
    """The ranking transformer of ../ranker as a module of flax."""

    config: Config

    @nn.compact
    def __call__(self, request):
        weights = Weights(**{
            name: self.param(name, nn.initializers.ones if "norm" in name else nn.initializers.normal(0.1), shape)
            for name, shape in weight_shapes(self.config)._asdict().items()})
        return rank(request, weights, self.config.heads)


def batch_of(step, config):
    """The data of one step, from its number alone: who clicks what follows a rule that can be learnt."""
    random = np.random.default_rng(step)
    shape = (config.batch, config.history)
    candidates = random.integers(0, config.items, (config.batch, config.candidates), dtype=np.int32)
    context = random.standard_normal((config.batch, config.context), dtype=np.float32)
    request = Request(
        history_items=random.integers(0, config.items, shape, dtype=np.int32),
        history_actions=random.integers(0, config.actions, shape, dtype=np.int32),
        history_age_hours=random.exponential(24.0, shape).astype(np.float32),
        history_valid=random.random(shape) < 0.9, candidate_items=candidates, context=context)
    return request, (candidates % 2 == 0).astype(np.float32)


MODEL = Ranker(CONFIG)
OPTIMIZER = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(3e-3, 200)))


def new_state():
    """A fresh state: flax's TrainState, whose function and optimizer are static data."""
    parameters = MODEL.init(jax.random.key(0), batch_of(0, CONFIG)[0])
    return TrainState.create(apply_fn=MODEL.apply, params=parameters, tx=OPTIMIZER)


def train_step(state, batch):
    """One step: (state, loss before it). The state is donated."""
    request, clicked = batch

    def loss(parameters):
        scores = state.apply_fn(parameters, request)
        return jnp.mean(jnp.logaddexp(0.0, scores) - clicked * scores)

    value, gradient = jax.value_and_grad(loss)(state.params)
    return state.apply_gradients(grads=gradient), value


class Phases:
    """Seconds by phase, each since the one before."""

    def __init__(self, begin):
        self.seconds, self._last = {}, begin

    def end(self, name):
        now = time.time()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now

    def split(self, name, parts):
        """Takes parts that were measured inside a phase out of it."""
        for part, seconds in parts.items():
            self.seconds[part] = self.seconds.get(part, 0.0) + seconds
            self.seconds[name] -= seconds


def first_step(lowered, cache, phases):
    """The step's executable, by the way that was asked for: the only place where they differ."""
    if cache == "precast":
        import precast.jax
        phases.end("import")
        compiled = precast.jax.compile_or_load(lowered)
        report = precast.jax.report(compiled)
        phases.end("compile")
        parts = {name: report.seconds.get(name, 0.0) for name in ("key", "load")}
        parts["key"] += report.seconds.get("lookup", 0.0) + report.seconds.get("verify", 0.0)
        phases.split("compile", parts)
        return compiled, report.outcome
    compiled = lowered.compile()
    phases.end("compile")
    return compiled, None


def use_jaxs_cache(folder):
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def say(**what):
    print(json.dumps(what), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=pathlib.Path, required=True, help="checkpoints go into its folder checkpoints")
    parser.add_argument("--devices", default="0", help="positions among jax.devices(), as 0,1,2,3")
    parser.add_argument("--steps", type=int, default=12, help="the number of the last step")
    parser.add_argument("--cache", choices=("none", "jax", "precast"), default="none")
    parser.add_argument("--cache-folder", type=pathlib.Path, help="of the cache; needed but for none")
    parser.add_argument("--started", type=float, default=started, help="when this process was started, seconds since 1970")
    options = parser.parse_args()
    phases = Phases(options.started)
    if options.cache == "jax":
        use_jaxs_cache(options.cache_folder)
    elif options.cache == "precast":
        os.environ["PRECAST_CACHE"] = str(options.cache_folder)
    phases.end("import")

    devices = [jax.devices()[int(position)] for position in options.devices.split(",")]
    mesh = Mesh(np.array(devices), ("data",))
    everywhere, by_example = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("data"))
    phases.end("devices")

    # What a state is like is known without making one: nothing is compiled for it.
    shapes = jax.eval_shape(new_state)
    like = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=everywhere), shapes)
    batches = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=by_example), batch_of(0, CONFIG))
    traced = jax.jit(train_step, donate_argnums=0).trace(like, batches)
    phases.end("trace")
    lowered = traced.lower()
    phases.end("lower")
    step, outcome = first_step(lowered, options.cache, phases)

    with ocp.CheckpointManager(options.work.absolute() / "checkpoints") as manager:
        last = manager.latest_step()
        if last is None:
            state = jax.jit(new_state, out_shardings=everywhere)()
        else:
            state = manager.restore(last, args=ocp.args.StandardRestore(like))
        phases.end("restore" if last is not None else "init")

        for number in range((last or 0) + 1, options.steps + 1):
            state, loss = step(state, jax.device_put(batch_of(number, CONFIG), by_example))
            loss = np.asarray(loss)
            if "first step" not in phases.seconds:
                phases.end("first step")
                say(phases=phases.seconds, outcome=outcome, restored=last, devices=[device.id for device in devices])
            say(step=number, loss=float(loss), bits=loss.tobytes().hex())
            if number % CHECKPOINT_EVERY == 0:
                manager.save(number, args=ocp.args.StandardSave(state))
                manager.wait_until_finished()
                say(checkpoint=number)


if __name__ == "__main__":
    main()
