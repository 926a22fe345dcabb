"""What is derived from a seed, against the standard library's own."""

import hmac
from base64 import urlsafe_b64encode

from hypothesis import given
from hypothesis import strategies as st

from services.core.secrecy import salt


@given(seed=st.binary(min_size=32, max_size=32), version=st.integers(1, 10_000))
def test_a_salt_is_the_first_half_of_an_hmac_of_the_version(seed: bytes, version: int) -> None:
    whole = hmac.digest(seed, b"waystation/salt/v1:%d" % version, "sha256")
    assert salt(seed, version) == urlsafe_b64encode(whole[:16]).rstrip(b"=").decode()
