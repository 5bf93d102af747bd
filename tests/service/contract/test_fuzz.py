import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.app import create_app
from tests.support.service.contract import Service
from tools import worst_bodies

PATHS = [f"/v1/{name}" for name in ("start", "moves", "validate", "advance", "view")]
SERVICE = Service(create_app().test_client())

names = st.sampled_from(
    ["game", "state", "view", "moves", "move", "seat", "players", "options", "hands", "seed", "x"]
) | st.text(max_size=4)
words = st.sampled_from(
    ["doudizhu", "dasan", "zhengfen", "ninefivetwo", "pass", "bid:1", "play:3c", "??", "Rj", "over"]
)
numbers = st.integers() | st.integers(-3, 9) | st.floats()
anything = st.recursive(
    st.none() | st.booleans() | numbers | words | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
    max_leaves=12,
)

patient = settings(deadline=None, suppress_health_check=list(HealthCheck))
bodies = st.one_of(
    st.binary(max_size=200),
    anything.map(lambda value: json.dumps(value).encode()),
    st.dictionaries(names, anything, max_size=5).map(lambda value: json.dumps(value).encode()),
)


@patient
@given(st.sampled_from(PATHS), bodies)
def test_any_body(path: str, body: bytes) -> None:
    answer = SERVICE.send(path, body)
    assert answer.get("status") != 500, answer


@patient
@given(
    path=st.sampled_from(["/v1/games/{}", "/docs/rules/{}.md", "/{}"]), name=st.text(max_size=20)
)
def test_any_path(path: str, name: str) -> None:
    response = SERVICE.client.get(path.format(name.replace("/", "%2F").replace("?", "%3F")))
    assert response.status_code in (200, 302, 404)  # / leads to /docs


def test_every_bad_body_has_a_documented_answer() -> None:
    client = worst_bodies.client()
    for operation, what, body in worst_bodies.bodies(size=25_000):
        path = f"/v1/{operation}"
        status = client.post(path, data=body, content_type="application/json").status_code
        assert status in (200, 400, 403, 422), what
