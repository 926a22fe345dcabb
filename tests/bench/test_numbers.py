"""Numbers that no bench can be run with are refused before anything is started."""

import subprocess
import sys
from argparse import ArgumentTypeError

import pytest

from bench import numbers

REFUSED = [
    ("bench.whole", "--seconds", "0"),
    ("bench.whole", "--seconds", "-1"),
    ("bench.whole", "--idle", "-5"),
    ("bench.peers", "--seconds", "nan"),
    ("bench.peers", "--runs", "0"),
    ("bench.stacks", "some.stacks", "--lines", "0"),
]


@pytest.mark.parametrize("text", ["0", "-1", "0.09", "601", "inf", "nan", "soon", ""])
def test_seconds_that_give_no_figures_are_refused(text):
    with pytest.raises(ArgumentTypeError, match=r"is no number from 0\.1 to 600"):
        numbers.seconds(text)


def test_seconds_may_be_broken():
    assert numbers.seconds("2.5") == 2.5


@pytest.mark.parametrize("text", ["0", "11", "2.5", "two"])
def test_whole_numbers_have_a_range(text):
    read = numbers.whole(1, 10)
    assert (read("1"), read("10")) == (1, 10)
    with pytest.raises(ArgumentTypeError, match="is no whole number from 1 to 10"):
        read(text)


@pytest.mark.parametrize("command", REFUSED, ids=" ".join)
def test_a_command_names_the_number_that_it_refuses(command):
    ran = subprocess.run(
        (sys.executable, "-m", *command), capture_output=True, text=True, timeout=30, check=False
    )
    assert ran.returncode == 2
    assert repr(command[-1]) in ran.stderr.splitlines()[-1]
    assert "Traceback" not in ran.stderr
