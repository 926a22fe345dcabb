"""What a worker takes a request to say."""

import pytest
from waystation.rules.v1 import rules_pb2 as pb

from services.rules import asked
from tests.kit.test_moment import NOW, TOLD


@pytest.fixture(autouse=True)
def _stopped_clock(monkeypatch):
    monkeypatch.setattr(asked, "now_ms", lambda: NOW)


@pytest.mark.parametrize(("told", "taken"), TOLD)
def test_commands_and_starts_are_dated_as_far_as_the_caller_is_believed(told, taken):
    resigns = pb.SubmitCommandRequest(match="m", player="ann", resign=pb.Resign())
    starts = pb.StartMatchRequest(match="m", seats=[pb.Seat(player="ann")])
    for request in (resigns, starts):
        request.at.FromMilliseconds(NOW + told)
    assert asked.issued_of(resigns).at == NOW + taken
    assert asked.sealed_of(starts).at == NOW + taken


def test_a_command_without_a_time_is_dated_now():
    assert asked.issued_of(pb.SubmitCommandRequest(match="m", player="ann", resign=pb.Resign())).at == NOW


def test_an_abort_is_nobodys_whoever_sends_it():
    sent = pb.SubmitCommandRequest(match="m", player="ann", abort=pb.Abort(note="a storm"))
    assert asked.issued_of(sent).player is None
