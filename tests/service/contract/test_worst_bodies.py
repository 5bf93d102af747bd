"""Bad bodies have documented answers; `make bench` measures their cost."""

from tools import worst_bodies


def test_every_bad_body_has_a_documented_answer() -> None:
    client = worst_bodies.client()
    for operation, what, body in worst_bodies.bodies(size=25_000):
        path = f"/v1/{operation}"
        status = client.post(path, data=body, content_type="application/json").status_code
        assert status in (200, 400, 403, 422), what
