import msgspec
import pytest
from msgspec import Raw

from services.core.upcast import current

STEPS = {
    ("move_made", 1): lambda fields: {"turn": fields["move"]},
    ("move_made", 2): lambda fields: {**fields, "extra": 0},
}
WANTED = {"move_made": 3}


def test_old_data_is_brought_up_step_by_step():
    raw = current("move_made", 1, Raw(b'{"move":7}'), STEPS, WANTED)
    assert msgspec.json.decode(raw) == {"turn": 7, "extra": 0}


def test_todays_data_is_passed_as_it_is():
    raw = Raw(b'{"turn":7,"extra":1}')
    assert current("move_made", 3, raw, STEPS, WANTED) is raw


def test_a_schema_of_the_future_is_refused():
    with pytest.raises(KeyError):
        current("move_made", 4, Raw(b"{}"), STEPS, WANTED)
