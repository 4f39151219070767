"""The pods of a trace: what each asks for, which models of GPU it takes, and when it came.

`name,cpu_milli,memory_mib,num_gpu,gpu_milli` must be there; `gpu_spec` (models joined by `|`) and times
may be. What a pod asks of its GPUs must make sense together: nothing of none, a part of one, or all of
several.
"""

from typing import Final

from springtide.model.trace import GPU_MILLI, TracePod
from springtide.wire.trace.naming import Names
from springtide.wire.trace.nodes import GPUS_MAX
from springtide.wire.trace.table import Row, rows

_REQUIRED: Final = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
_OPTIONAL: Final = (
    "gpu_spec",
    "qos",
    "pod_phase",
    "creation_time",
    "deletion_time",
    "scheduled_time",
)


def read_pods(data: bytes, *, source: str) -> tuple[TracePod, ...]:
    """Return the pods in the order of the file, or raise a DocumentFault."""
    names = Names("name")
    table = rows(data, source=source, required=_REQUIRED, optional=_OPTIONAL)
    return tuple(_pod(row, names) for row in table)


def _pod(row: Row, names: Names) -> TracePod:
    gpus = row.amount("num_gpu", at_most=GPUS_MAX)
    return TracePod(
        name=names.taken(row),
        cpu_milli=row.amount("cpu_milli"),
        memory_mib=row.amount("memory_mib"),
        gpus=gpus,
        gpu_milli=_gpu_milli(row, gpus),
        models=_models(row),
        created_s=row.optional("creation_time"),
        deleted_s=row.optional("deletion_time"),
    )


def _gpu_milli(row: Row, gpus: int) -> int:
    milli = row.amount("gpu_milli", at_most=GPU_MILLI)
    match gpus:
        case 0 if milli:
            reason = f"{milli} thousandths of no GPU are asked; set num_gpu to 1 or this to 0."
        case 0:
            return milli
        case _ if not milli:
            reason = "nothing of a GPU is asked; set this to at least 1 or num_gpu to 0."
        case _ if gpus > 1 and milli < GPU_MILLI:
            reason = f"a pod of {gpus} GPUs takes them whole; set this to {GPU_MILLI}."
        case _:
            return milli
    raise row.fault("gpu_milli", reason)


def _models(row: Row) -> tuple[str, ...]:
    text = row.text("gpu_spec")
    if not text:
        return ()
    models = tuple(text.split("|"))
    if not all(models):
        reason = "a model between two bars is missing; write models as in T4|P100."
        raise row.fault("gpu_spec", reason)
    return models
