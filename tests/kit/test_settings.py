import pytest

from services.kit.settings import Seconds, ServiceSettings, SettingInvalid, Settings, from_environment


class ProbeSettings(Settings, frozen=True, kw_only=True):
    probe_key: str
    probe_every_s: Seconds = 2.5
    peers: tuple[str, ...] = ()


def test_unset_and_empty_variables_leave_the_defaults() -> None:
    read = from_environment(Settings, {"REDIS_URL": "", "LOG_LEVEL": " "})
    assert read == Settings()


def test_variables_are_read_as_their_types() -> None:
    environ = {"REDIS_UNSAFE": "1", "METRICS_PORT": "6001", "LOG_LEVEL": "DEBUG", "UNRELATED": "x"}
    read = from_environment(ServiceSettings, environ)
    assert read == ServiceSettings(redis_unsafe=True, metrics_port=6001, log_level="DEBUG")


def test_a_service_adds_settings_of_its_own() -> None:
    read = from_environment(ProbeSettings, {"PROBE_KEY": "k", "PROBE_EVERY_S": "0.5", "PEERS": "a, b"})
    assert read == ProbeSettings(probe_key="k", probe_every_s=0.5, peers=("a", "b"))


@pytest.mark.parametrize(
    ("variable", "value"),
    [("METRICS_PORT", "http"), ("METRICS_PORT", "70000"), ("REDIS_UNSAFE", "maybe"), ("LOG_LEVEL", "LOUD")],
)
def test_a_bad_value_is_one_line_that_names_the_variable(variable: str, value: str) -> None:
    with pytest.raises(SettingInvalid) as refusal:
        from_environment(ServiceSettings, {variable: value})
    assert str(refusal.value).startswith(f"{variable} cannot be used: ")
    assert "\n" not in str(refusal.value)


def test_a_missing_setting_that_has_no_default_is_named() -> None:
    with pytest.raises(SettingInvalid, match="PROBE_KEY must be set"):
        from_environment(ProbeSettings, {})


def test_a_bad_number_is_not_repeated_in_the_error() -> None:
    with pytest.raises(SettingInvalid) as refusal:
        from_environment(ServiceSettings, {"METRICS_PORT": "hunter2"})
    assert "hunter2" not in str(refusal.value)
