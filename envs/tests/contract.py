"""Contract tests 1, 2, 4, 7 and 10 on one environment with as little compilation as can be: two programs for all.

Run as a program it loads trees one after another, for `test_broken_trees.py`: JSON on stdin names them, JSON on stdout
says what each failed and what its training said. `test_environment.py` and `test_explain.py` test more, one by one.
"""

import contextlib
import dataclasses
import io
import json
import sys
import traceback
import warnings

LANES, LENGTH = 256, 8
SMALL = {"environments": 8, "steps": 8, "updates": 1, "epochs": 1, "minibatches": 2}


class Contract:
    """The compiled programs of one environment; parameters are arguments, so that trees of equal source share them."""

    def __init__(self, env, explain):
        import jax

        from evalxrl_envs.core.protocol import SIMPLEST
        from evalxrl_envs.core.rollout import autoreset_step, rollout

        self.env, self.explain, self.traces = env, explain, 0

        def play(keys, params):
            self.traces += 1
            return rollout(env, lambda key, _: env.action_space.sample(key), keys, params, LENGTH)

        def three(key, state, action, params):
            for_step, for_reset = jax.random.split(key)
            auto = autoreset_step(env, key, state, action, params)
            return auto, env.step(for_step, state, action, params), env.reset(for_reset, params)

        self.play = jax.jit(play, compiler_options=SIMPLEST)
        self.three = jax.jit(jax.vmap(three, (0, 0, 0, None)), compiler_options=SIMPLEST)

    def check(self, params):
        """Raises `AssertionError` where the contract does not hold with these parameters."""
        import jax
        import numpy as np

        keys = jax.random.split(jax.random.key(0), LANES)
        steps = jax.device_get(self.play(keys, params))
        self.compiles_once(keys, params)
        self.depends_on_the_key_alone(keys, params, steps)
        self.adds_up(steps)
        state = jax.tree.map(lambda x: x[:, -1], steps.state)
        actions = jax.vmap(self.env.action_space.sample)(keys)
        last = np.where(np.arange(LANES) < LANES // 2, int(params.horizon) - 1, state.t).astype(np.int32)
        state = dataclasses.replace(state, t=last)
        self.resets_by_the_documented_key(keys, state, actions, params)
        self.draws(state, params)

    def compiles_once(self, keys, params):
        """No value of a parameter is part of the program."""
        import numpy as np

        before = self.traces
        for field in dataclasses.fields(params):
            value = getattr(params, field.name)
            self.play(keys, dataclasses.replace(params, **{field.name: np.asarray(value * 2, value.dtype)}))
        assert self.traces == before == 1, "compiled anew for another value of a parameter"

    def depends_on_the_key_alone(self, keys, params, steps):
        """Same keys, same bytes; other keys, other ones; compiled or not, the same step."""
        import jax
        import numpy as np

        again = jax.device_get(self.play(keys, params))
        same = [a.tobytes() == b.tobytes() for a, b in zip(*map(jax.tree.leaves, (steps, again)), strict=True)]
        assert all(same), "one key gave two results"
        other = jax.device_get(self.play(keys[::-1], params))
        assert any(not np.array_equal(a, b) for a, b in zip(*map(jax.tree.leaves, (steps, other)), strict=True))
        action = np.asarray(self.env.action_space.sample(keys[0]))
        state = jax.tree.map(lambda x: x[0, 0], steps.state)
        with jax.disable_jit():
            plain = self.env.step(jax.random.split(keys[0])[0], state, action, params)
        batch = jax.tree.map(lambda x: np.broadcast_to(x, (LANES, *np.shape(x))), (state, action))
        compiled = self.three(keys, *batch, params)[1]
        for a, b in zip(*map(jax.tree.leaves, (plain, jax.tree.map(lambda x: x[0], compiled))), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)

    def adds_up(self, steps):
        """The reward is the sum of its named components, to the last bit."""
        import numpy as np

        components = steps.info["reward"]
        assert components._fields == self.env.components, "component names changed"
        total = np.zeros_like(components[0])
        for component in components:
            total = total + component
        np.testing.assert_array_equal(steps.reward, total)

    def resets_by_the_documented_key(self, keys, state, actions, params):
        """After an ending the next observation is that of a reset; the final one is kept."""
        import jax
        import numpy as np

        auto, plain, fresh = jax.device_get(self.three(keys, state, actions, params))
        over = plain.terminated | plain.truncated
        assert over.any() and not over.all(), "half of the lanes are at the horizon"
        np.testing.assert_allclose(auto.info["final_observation"], plain.observation, atol=1e-5)
        for a, b, c in zip(
            *map(jax.tree.leaves, ((auto.observation, auto.state), fresh, (plain.observation, plain.state))),
            strict=True,
        ):
            np.testing.assert_allclose(a[over], b[over], atol=1e-5)
            np.testing.assert_allclose(a[~over], c[~over], atol=1e-5)

    def draws(self, state, params):
        """Text is not empty, and pictures have one shape."""
        import jax
        import numpy as np

        some = [jax.tree.map(lambda x, lane=lane: x[lane], state) for lane in (0, LANES // 2, LANES - 1)]
        assert all(self.explain.render_text(one, params) for one in some)
        frames = [self.explain.render_rgb(one, params) for one in some]
        assert len({(frame.shape, frame.dtype) for frame in frames}) == 1
        assert frames[0].dtype == np.uint8 and frames[0].ndim == 3 and frames[0].shape[2] == 3


def load(folder, name):
    """Imports the package of a tree in place of any other; gives the environment, its parameters and modules."""
    for module in [module for module in sys.modules if module.split(".")[0] == "evalxrl_envs"]:
        del sys.modules[module]
    sys.path[0] = folder
    from evalxrl_envs.agents import train
    from evalxrl_envs.core import registry
    from evalxrl_envs.serving import server

    env, params = registry.make(name)
    return env, params, registry.part(name, "explain"), train, server


def train_a_moment(env, setting, train, server):
    """One chunk of training, and the agent's answers as served; returns the lines said."""
    import numpy as np

    lines = []
    setting = setting._replace(static=setting.static._replace(**SMALL))
    training = train.run(setting, [0], lines.append, chunk=1).training
    agent = train.agent_of(setting, training, 0, "config.toml")
    answers = server.served_policy(agent, env)(np.zeros((4, *env.observation_space.shape), np.float32))
    assert np.all(np.isfinite(answers)), "answers are not finite"
    return lines


def failure_of(work, *arguments):
    """What stopped the work, in one line, or nothing; and its result."""
    try:
        return "", work(*arguments)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{place.filename}:{place.lineno}: {type(error).__name__}: {error}"[:500], None


def main():
    """Reads [environment, [folder, contract wanted] of trees of equal source, ...] and reports on each folder."""
    name, groups = json.load(sys.stdin)
    sys.path.insert(0, groups[0][0][0])
    from evalxrl_envs.core import runtime

    runtime.prepare()
    import jax

    jax.config.update("jax_platforms", "cpu")
    report = {}
    for group in groups:
        contract = None
        for folder, wanted in group:
            talk = io.StringIO()
            with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(talk):
                warnings.simplefilter("always")
                if folder == group[0][0]:
                    env, params, explain, train, server = load(folder, name)
                config = f"{folder}/evalxrl_envs/{name}/config.toml"
                failed, setting = failure_of(train.read_config, env, params, config)
                if not failed:
                    failed, lines = failure_of(train_a_moment, env, setting, train, server)
                if wanted and not failed:
                    contract = contract or Contract(env, explain)
                    failed, _ = failure_of(contract.check, setting.params)
            report[folder] = {
                "failed": failed,
                "lines": lines if not failed else [],
                "printed": talk.getvalue(),
                "warnings": [str(warning.message) for warning in caught],
            }
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()
