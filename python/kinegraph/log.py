"""Tables in files: CSV always; HDF5 and MCAP where h5py and mcap are installed.

    table = kinegraph.log.read("run.mcap")
    kinegraph.log.write("run.h5", result)
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any, Dict, Iterator, List

import numpy as np

from . import _kinegraph
from ._errors import bad_input
from ._table import PathLike, Table, TableLike, to_table

_TOPIC = "kinegraph"


def read(path: PathLike) -> Table:
    """A table, by the end of its file's name: .csv (or .txt), .h5 (.hdf5), .mcap."""
    return _by_name(path, {"csv": _read_csv, "h5": _read_h5, "mcap": _read_mcap})(os.fspath(path))


def write(path: PathLike, table: TableLike) -> None:
    """Writes a table, by the end of the file's name: .csv (or .txt), .h5 (.hdf5), .mcap."""
    _by_name(path, {"csv": _write_csv, "h5": _write_h5, "mcap": _write_mcap})(os.fspath(path), Table(to_table(table, "table")))


def _by_name(path: PathLike, handlers: Dict[str, Any]) -> Any:
    end = os.path.splitext(os.fspath(path))[1].lower().lstrip(".")
    end = {"hdf5": "h5", "txt": "csv"}.get(end, end)
    if end not in handlers:
        raise bad_input(f"{os.fspath(path)}: expected a name that ends with .csv, .h5 or .mcap")
    return handlers[end]


def _need(module: str, package: str, debian: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as fault:
        ways = f"pip install {package}" + (f", or apt install {debian}" if debian else "")
        raise ImportError(f"files of this kind need the package {package}, which is not installed: {ways}; .csv needs none") from fault


@contextlib.contextmanager
def _whole(path: str) -> Iterator[str]:
    """A name beside the path: what is written there gets the path's name when all of it is there, or goes."""
    part = f"{path}.{os.getpid()}.part"
    try:
        yield part
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(part)


def _read_csv(path: str) -> Table:
    return Table(_kinegraph.read_table(path))


def _write_csv(path: str, table: Table) -> None:
    table.csv(path)


# HDF5: a dataset per series, `t` among them; the order of the series is an attribute.
def _write_h5(path: str, table: Table) -> None:
    h5py = _need("h5py", "h5py", "python3-h5py")
    with _whole(path) as part, h5py.File(part, "w") as file:
        file.attrs["names"] = np.array(table.names, dtype=h5py.string_dtype())
        file.create_dataset("t", data=table.t)
        for name, series in table.items():
            file.create_dataset(name, data=np.ascontiguousarray(series))


def _read_h5(path: str) -> Table:
    h5py = _need("h5py", "h5py", "python3-h5py")
    with h5py.File(path, "r") as file:
        if "t" not in file:
            raise bad_input(f"{path}: expected a dataset 't'")
        names: List[str] = [n.decode() if isinstance(n, bytes) else str(n) for n in file.attrs.get("names", [])]
        names = names or [n for n in file if n != "t" and getattr(file[n], "shape", None) == file["t"].shape]
        return Table(to_table({"t": file["t"][()], **{name: file[name][()] for name in names}}, path))


# MCAP: a message per row on one topic, JSON objects {"t": …, "theta.q": …}; what is not given is left out.
def _write_mcap(path: str, table: Table) -> None:
    writer_module = _need("mcap.writer", "mcap", "")
    schema = {"type": "object", "properties": {name: {"type": "number"} for name in ["t", *table.names]}}
    with _whole(path) as part, open(part, "wb") as file:
        writer = writer_module.Writer(file)
        writer.start(profile="", library="kinegraph")
        kind = writer.register_schema("kinegraph.Row", "jsonschema", json.dumps(schema).encode())
        channel = writer.register_channel(_TOPIC, "json", kind)
        for i, t in enumerate(table.t):
            row = {name: value for name, value in zip(table.names, table.array[i].tolist()) if value == value}
            stamp = max(0, round(float(t) * 1e9))
            writer.add_message(channel, stamp, json.dumps({"t": float(t), **row}).encode(), stamp)
        writer.finish()


def _read_mcap(path: str) -> Table:
    reader_module = _need("mcap.reader", "mcap", "")
    rows: List[Dict[str, float]] = []
    names: Dict[str, None] = {}
    with open(path, "rb") as file:
        for _, channel, message in reader_module.make_reader(file).iter_messages():
            if channel.message_encoding != "json":
                continue
            row = {k: float(v) for k, v in json.loads(message.data).items() if isinstance(v, (int, float))}
            row.setdefault("t", message.log_time * 1e-9)
            names.update(dict.fromkeys(k for k in row if k != "t"))
            rows.append(row)
    if not rows:
        raise bad_input(f"{path}: expected messages in JSON, found none")
    series = {name: [row.get(name, float("nan")) for row in rows] for name in names}
    return Table(to_table({"t": [row["t"] for row in rows], **series}, path))
