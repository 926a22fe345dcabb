"""What a lobby takes a request to say."""

import pytest
from waystation.lobby.v1 import lobby_pb2 as pb

from services.lobby import wire
from tests.kit.test_moment import NOW, TOLD


@pytest.mark.parametrize(("told", "taken"), TOLD)
def test_requests_are_dated_as_far_as_the_caller_is_believed(monkeypatch, told, taken):
    monkeypatch.setattr(wire, "now_ms", lambda: NOW)
    request = pb.LeaveSeatRequest(match="m", player="ann")
    request.at.FromMilliseconds(NOW + told)
    assert wire.issued_of(request).at == NOW + taken


def test_requests_without_an_id_get_one_that_no_other_has():
    request = pb.LeaveSeatRequest(match="m", player="ann")
    ids = {wire.issued_of(request).request_id for _ in range(10)}
    assert len(ids) == 10
