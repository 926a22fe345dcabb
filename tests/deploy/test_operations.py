"""What operators are told of settings is what the processes read."""

import re

import msgspec
import pytest
import yaml

from deploy.local.system import ROOT
from deploy.manifests import COMPOSE
from gateway.settings import GatewaySettings
from services.kit.settings import Settings
from services.lobby.__main__ import LobbySettings
from services.projection.__main__ import ProjectionSettings
from services.rules.__main__ import RulesSettings

OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
LIMITS = (ROOT / "docs" / "limits.md").read_text()
VARIABLE = re.compile(r"`([A-Z][A-Z_]+)`")
PROCESSES = (GatewaySettings, LobbySettings, ProjectionSettings, RulesSettings)


def variables(settings: type[Settings]) -> set[str]:
    return {field.name.upper() for field in msgspec.structs.fields(settings)}


@pytest.mark.parametrize("settings", PROCESSES)
def test_every_setting_is_in_the_table_of_settings_or_among_the_limits(
    settings: type[Settings],
) -> None:
    table = OPERATIONS.partition("## Settings")[2].partition("\n## ")[0]
    assert variables(settings) <= set(VARIABLE.findall(table + LIMITS))


def test_a_gateway_is_told_of_no_bus() -> None:
    assert not {name for name in variables(GatewaySettings) if name.startswith("NATS")}


def test_the_tables_name_no_setting_that_nobody_reads() -> None:
    table = OPERATIONS.partition("## Settings")[2].partition("\n## ")[0]
    first_cells = " ".join(line.split("|")[1] for line in table.splitlines() if line.startswith("|"))
    read = set().union(*map(variables, PROCESSES))
    assert set(VARIABLE.findall(first_cells)) <= read


def test_every_variable_that_compose_reads_is_told_with_it() -> None:
    text = (ROOT / COMPOSE).read_text()
    told = OPERATIONS.partition("## On one machine")[2].partition("\n## ")[0]
    assert set(re.findall(r"\$\{([A-Z_]+)", text)) == set(VARIABLE.findall(told))


def test_compose_hands_over_only_what_its_services_read() -> None:
    services = yaml.safe_load((ROOT / COMPOSE).read_text())["services"]
    given = {name for name in services["gateway"]["environment"] if not name.startswith("OTEL_")}
    assert given <= variables(GatewaySettings)
