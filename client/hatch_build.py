"""Puts the client's modules into the package: they stand in ``ossb``, and nowhere else."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULES = ("client.py", "served.py", "errors.py", "pairs.py", "words.py", "py.typed")


class Modules(BuildHookInterface):
    """From this repository; a source distribution has them already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        above = Path(self.root).parent
        if not (above / "src/ossb").is_dir():
            return
        for name in MODULES:
            build_data["force_include"][str(above / "src/ossb" / name)] = f"ossb_client/{name}"
        build_data["force_include"][str(above / "LICENSE")] = "ossb_client/LICENSE"
