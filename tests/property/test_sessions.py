"""Sessions of several clients against a naive model that copies everything and replays every pod."""

import copy
import json
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from springtide.apps.sessions import Reply, rules
from springtide.engine.simulation.bounds import Bounds
from tests.builders import card, cards, mig_card
from tests.simulating import Caller, Json, node, pod, read, reasons, simulated

GIVEN = rules()
CLIENTS = ("one", "two")
KINDS = (cards(1), cards(2), (mig_card(),), ())
ASKS: list[dict[str, Any]] = [
    {"gpu": 1, "gpumem": 9000},
    {"gpu": 1, "gpumem": 24000},
    {"gpu": 2, "gpumem": 2000},
]
LEASE_S = 60.0
LEVELS_MAX = 3


class Model(msgspec.Struct):
    """One session as the naive model has it: nodes with kinds, pods in order, copies at the forks."""

    ends_s: float
    nodes: dict[str, int]
    pods: dict[str, tuple[Json, str]] = {}
    saved: list[tuple[dict[str, int], dict[str, tuple[Json, str]]]] = []
    revision: int = 0
    done: dict[str, tuple[str, Json, bytes]] = {}

    def sent(self, name: str) -> Json:
        """The node with its pods, as a call without state carries them."""
        standing = [
            {
                "namespace": "team",
                "name": asked["metadata"]["name"],
                "containers": asked["spec"]["containers"],
            }
            for asked, on in self.pods.values()
            if on == name
        ]
        return node(name, *KINDS[self.nodes[name]], standing=standing)

    def refusal(self, asked: Json, name: str) -> str:
        """Why a node refuses a pod, empty if it does not."""
        return reasons(simulated(asked, self.sent(name), given=GIVEN)).get(name, "")


class Machine(RuleBasedStateMachine):
    """One service; of two clients each has at most one session at a time, which they call alike."""

    def __init__(self) -> None:
        super().__init__()
        self.caller = Caller(bounds=Bounds(levels_max=LEVELS_MAX, lease_s=LEASE_S))
        self.models: dict[str, Model] = {}
        self.ended: set[str] = set()
        self.fresh = 0

    def name(self) -> str:
        """A name that was not used yet."""
        self.fresh += 1
        return f"x{self.fresh}"

    def model(self, client: str) -> Model | None:
        """The client's session, if its lease has not run out."""
        found = self.models.get(client)
        if found is not None and found.ends_s <= self.caller.now_s:
            del self.models[client]
            self.ended.add(client)
            return None
        return found

    def change(self, client: str, verb: str, **fields: Any) -> tuple[Model | None, Reply]:
        """Call as this client, with a new operation; an answer is remembered."""
        self.caller.client = client
        model = self.model(client)
        operation = self.caller.operation()
        reply = self.caller.call(verb, name=client, operationId=operation, **fields)
        if model is None:
            assert reply.status == (410 if client in self.ended else 404)
            return None, reply
        model.ends_s = self.caller.now_s + LEASE_S
        if reply.status == 200:
            model.revision += 1
            assert read(reply.body)["revision"] == model.revision
            model.done[operation] = verb, fields, reply.body
        return model, reply

    @rule(client=st.sampled_from(CLIENTS), kinds=st.lists(st.integers(0, 3), max_size=3))
    def open(self, client: str, kinds: list[int]) -> None:
        """Open a session, unless there is one."""
        if self.model(client) is not None:
            return
        self.caller.client = client
        nodes = {f"{client}-{place}": kind for place, kind in enumerate(kinds)}
        sent = [node(name, *KINDS[kind]) for name, kind in nodes.items()]
        assert self.caller.open(*sent, name=client).status == 201
        self.models[client] = Model(
            ends_s=self.caller.now_s + LEASE_S, nodes=nodes, pods={}, saved=[], done={}
        )

    @rule(client=st.sampled_from(CLIENTS), ask=st.sampled_from(ASKS), data=st.data())
    def place(self, client: str, ask: dict[str, Any], data: st.DataObject) -> None:
        """Place a new pod on some node."""
        model = self.model(client)
        names = sorted(model.nodes) if model is not None else []
        on = data.draw(st.sampled_from([*names, "nowhere"]))
        asked = pod(self.name(), **ask)
        refusal = model.refusal(asked, on) if model is not None and on in model.nodes else None
        now, reply = self.change(client, "place", pods=[{"pod": asked, "node": on}])
        if now is None:
            return
        if refusal is None:
            assert reply.status == 422
            return
        (result,) = read(reply.body)["results"]
        assert (result["reason"], result["placed"]) == (refusal, not refusal)
        if not refusal:
            now.pods[f"team/{asked['metadata']['name']}"] = asked, on

    @rule(client=st.sampled_from(CLIENTS), data=st.data())
    def remove(self, client: str, data: st.DataObject) -> None:
        """Take a pod away."""
        model = self.model(client)
        known = sorted(model.pods) if model is not None else []
        uid = data.draw(st.sampled_from([*known, "nobody"]))
        now, reply = self.change(client, "remove", pods=[uid])
        if now is not None:
            assert reply.status == (200 if uid in now.pods else 422)
            now.pods.pop(uid, None)

    @rule(client=st.sampled_from(CLIENTS), kind=st.integers(0, 3))
    def add_nodes(self, client: str, kind: int) -> None:
        """Add a node."""
        name = self.name()
        now, reply = self.change(client, "addNodes", nodes=[node(name, *KINDS[kind])])
        if now is not None:
            assert reply.status == 200
            now.nodes[name] = kind

    @rule(client=st.sampled_from(CLIENTS), data=st.data())
    def remove_nodes(self, client: str, data: st.DataObject) -> None:
        """Take a node away, with its pods."""
        model = self.model(client)
        name = data.draw(st.sampled_from(["nowhere", *sorted(model.nodes if model else ())]))
        now, reply = self.change(client, "removeNodes", nodes=[name])
        if now is not None:
            assert reply.status == (200 if name in now.nodes else 422)
            now.nodes.pop(name, None)
            now.pods = {uid: one for uid, one in now.pods.items() if one[1] != name}

    @rule(client=st.sampled_from(CLIENTS))
    def fork(self, client: str) -> None:
        """Open a level."""
        now, reply = self.change(client, "fork")
        if now is not None:
            assert reply.status == (200 if len(now.saved) < LEVELS_MAX else 413)
            if reply.status == 200:
                now.saved.append((dict(now.nodes), dict(now.pods)))

    @rule(client=st.sampled_from(CLIENTS))
    def revert(self, client: str) -> None:
        """Go back to the last level."""
        now, reply = self.change(client, "revert")
        if now is not None:
            assert reply.status == (200 if now.saved else 422)
            if now.saved:
                now.nodes, now.pods = now.saved.pop()

    @rule(client=st.sampled_from(CLIENTS))
    def commit(self, client: str) -> None:
        """Keep what was done since the last level."""
        now, reply = self.change(client, "commit")
        if now is not None:
            assert reply.status == (200 if now.saved else 422)
            if now.saved:
                now.saved.pop()

    @precondition(lambda self: any(model.done for model in self.models.values()))
    @rule(data=st.data(), is_same=st.booleans())
    def again(self, data: st.DataObject, *, is_same: bool) -> None:
        """Send a change again, or another one under its id."""
        client = data.draw(st.sampled_from(sorted(c for c, m in self.models.items() if m.done)))
        model = self.model(client)
        if model is None:
            return
        operation = data.draw(st.sampled_from(sorted(model.done)))
        verb, fields, answer = model.done[operation]
        self.caller.client = client
        sent = fields if is_same else {**fields, "ifRevision": model.revision}
        reply = self.caller.call(verb, name=client, operationId=operation, **sent)
        model.ends_s = self.caller.now_s + LEASE_S
        assert reply.status == (200 if is_same else 409)
        assert reply.body == answer or not is_same

    @rule(client=st.sampled_from(CLIENTS), behind=st.integers(1, 3))
    def stale(self, client: str, behind: int) -> None:
        """Change what is at another revision by now."""
        model = self.model(client)
        if model is not None:
            wanted = model.revision + behind
            _, reply = self.change(client, "fork", ifRevision=wanted)
            assert (reply.status, read(reply.body)["revision"]) == (409, model.revision)

    @rule(passed_s=st.sampled_from([1.0, 2.0, 5.0, 59.0, 60.0]))
    def wait(self, passed_s: float) -> None:
        """Let time pass."""
        self.caller.now_s += passed_s

    @rule(client=st.sampled_from(CLIENTS), ask=st.sampled_from(ASKS))
    def evaluate(self, client: str, ask: dict[str, Any]) -> None:
        """Ask all nodes about a pod."""
        model = self.model(client)
        if model is None:
            return
        self.caller.client = client
        asked = pod("asked", **ask)
        evaluation = self.caller.evaluate(asked, name=client)
        model.ends_s = self.caller.now_s + LEASE_S
        told = dict.fromkeys(evaluation["feasible"], "")
        for each in evaluation["refused"]:
            told |= dict.fromkeys(each["nodes"], each["reason"])
        assert told == {name: model.refusal(asked, name) for name in model.nodes}

    @invariant()
    def every_session_is_what_the_model_says(self) -> None:
        """Compare all nodes and pods, and that nobody else sees them."""
        for client in CLIENTS:
            model = self.model(client)
            if model is None:
                continue
            self.caller.client = client
            content = self.caller.content(client)
            listed = {each["name"]: each["pods"] for each in content["content"]}
            assert listed.keys() == model.nodes.keys()
            where = {one["uid"]: name for name, pods in listed.items() for one in pods}
            assert where == {uid: on for uid, (_, on) in model.pods.items()}
            assert content["forks"] == len(model.saved)
            assert content["revision"] == model.revision
            self._is_sound(client)

    def _is_sound(self, client: str) -> None:
        other = next(each for each in CLIENTS if each != client)
        service = self.caller.service
        assert service.content(other, client, self.caller.at).status == 404
        for lease in service.sessions:
            lease.session.check()


Machine.TestCase.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
TestSessions = Machine.TestCase


def test_a_revert_restores_what_every_device_holds() -> None:
    caller = Caller()
    caller.open(node("a", *cards(2)), node("b", mig_card()), node("c", card()))
    caller.place(pod("p", gpu=1, gpumem=5000), "a")
    (lease,) = caller.service.sessions
    before = copy.deepcopy(lease.session.uses())
    caller.call("fork")
    for name, on in (("q", "a"), ("r", "b"), ("s", "c")):
        assert caller.place(pod(name, gpu=1, gpumem=4000), on)["placed"]
    caller.call("remove", pods=["team/p"])
    caller.call("removeNodes", nodes=["c"])
    changed = lease.session.uses()

    caller.call("revert")

    assert changed != before
    assert lease.session.uses() == before


def test_nothing_that_is_asked_changes_what_is_there() -> None:
    caller = Caller()
    caller.open(node("a", *cards(2)), node("b", mig_card()))
    caller.place(pod("p", gpu=1, gpumem=5000), "a")
    (lease,) = caller.service.sessions
    before = copy.deepcopy((lease.session.uses(), lease.session.content(), lease.revision))

    simulated(pod(), node("a", *cards(2)), given=caller.service.rules)
    caller.service.filter(b"{")
    caller.evaluate(pod(gpu=9), allocations=True)
    caller.call("evaluate", pods=[{}])
    caller.call("place", pods=[{"pod": pod("q"), "node": "a"}, {"pod": pod("r"), "node": "no"}])
    caller.service.estimate(
        json.dumps({"templates": [{"node": node("t", card())}], "pods": [{"pod": pod()}]}).encode()
    )

    assert (lease.session.uses(), lease.session.content(), lease.revision) == before
