"""Whether requests are welcome."""

from services.core.errors import ServiceDown
from services.kit.directory import Directory


class Readiness:
    """Ready while somebody can seat players and the process is not about to end."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self.is_stopping = False

    def missing(self) -> str:
        """Why requests are not welcome; empty when they are."""
        if self.is_stopping:
            return "the gateway is stopping"
        try:
            self._directory.service("lobby")
        except ServiceDown as error:
            return str(error)
        return ""
