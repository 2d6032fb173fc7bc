"""Pack the built book into one file that opens without a network; called by ``tasks.py zip``.

The same pages give the same bytes: names in order, one date, one mode.
"""

import sys
import zipfile
from pathlib import Path

TOP = "in-context-learning-as-gradient-descent"  # the folder that unpacking makes
LEFT_OUT = ("reports", ".doctrees", ".buildinfo")
DATE = (1980, 1, 1, 0, 0, 0)  # the first that a zip can hold


def pack(html: Path, target: Path):
    files = [file for file in html.rglob("*") if file.is_file()]
    names = {file.relative_to(html).as_posix(): file for file in files}
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(names):
            if name.split("/")[0] in LEFT_OUT:
                continue
            entry = zipfile.ZipInfo(f"{TOP}/{name}", DATE)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            data = names[name].read_bytes()
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, compresslevel=9)


if __name__ == "__main__":
    pack(Path(sys.argv[1]), Path(sys.argv[2]))
