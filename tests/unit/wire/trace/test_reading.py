"""The files of a trace: what is read, and how a fault says where and what to do."""

import pytest

from springtide.model.trace import TraceNode, TracePod
from springtide.wire.errors import DocumentFault
from springtide.wire.trace import (
    TraceArrival,
    TracePlacement,
    read_arrivals,
    read_nodes,
    read_placements,
    read_pods,
    read_ranks,
)
from tests.traces import openb_nodes, openb_placements, openb_pods

NODES = "sn,cpu_milli,memory_mib,gpu,model\n"
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
FULL = PODS.rstrip() + ",gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"


def pods(text: str) -> tuple[TracePod, ...]:
    return read_pods(text.encode(), source="pods.csv")


def nodes(text: str) -> tuple[TraceNode, ...]:
    return read_nodes(text.encode(), source="nodes.csv")


def fault(text: str | bytes) -> str:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(DocumentFault) as caught:
        read_pods(data, source="pods.csv")
    return str(caught.value)


def test_the_public_trace_is_read_whole() -> None:
    lists = {name: openb_pods(name) for name in ("default", "multigpu50", "gpuspec33")}

    assert sum(node.gpus for node in openb_nodes()) == 6212
    assert {name: len(pods) for name, pods in lists.items()} == {
        "default": 8152,
        "multigpu50": 9061,
        "gpuspec33": 8152,
    }
    assert sum(bool(pod.models) for pod in lists["gpuspec33"]) == 2388


def test_a_pod_keeps_what_its_row_says() -> None:
    found = pods(FULL + "p,1500,0,1,470,V100M16|V100M32|V100M32,LS,Pending,7,19,\n")

    assert found == (
        TracePod(
            name="p",
            cpu_milli=1500,
            memory_mib=0,
            gpus=1,
            gpu_milli=470,
            models=("V100M16", "V100M32", "V100M32"),
            created_s=7,
            deleted_s=19,
        ),
    )


def test_five_columns_are_enough_in_any_order() -> None:
    found = pods("gpu_milli,num_gpu,memory_mib,cpu_milli,name\n1000,8,3,1,p\n")

    assert found == (TracePod(name="p", cpu_milli=1, memory_mib=3, gpus=8, gpu_milli=1000),)


def test_a_node_without_gpus_has_no_model() -> None:
    found = nodes(NODES + "n,32000,262144,0,\n")

    assert found == (TraceNode(name="n", cpu_milli=32000, memory_mib=262144, gpus=0, model=""),)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_spreadsheets_save_is_read(encoding: str, end: str) -> None:
    text = (PODS + "\np,1,2,0,0\n\n").replace("\n", end)

    found = read_pods(text.encode(encoding), source="pods.csv")

    assert [pod.name for pod in found] == ["p"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "pods.csv, line 1: name: the column is missing; the first line must name name,"),
        (PODS, "pods.csv, line 1: the table has no rows; was the file cut off?"),
        ("name,cpu_milli,memory_mib,num_gpu\np,1,1,0\n", "line 1: gpu_milli: the column is miss"),
        (PODS.replace("\n", ",gpuspec\n"), "line 1: 'gpuspec': no such column is known; leave it"),
        (PODS.replace("\n", ",name\n"), "line 1: name: the column stands there twice; leave one"),
        (PODS + "p,1,1,0\n", "line 2: there are 4 cells under 5 columns; separate cells by"),
        (PODS + "\np,1.5,1,0,0\n", "line 3: cpu_milli: '1.5' is no whole number from 0 to 1,099,"),
        (PODS + "p,1,,0,0\n", "line 2: memory_mib: '' is no whole number"),
        (PODS + "p,-1,1,0,0\n", "line 2: cpu_milli: '-1' is no whole number"),
        (PODS + "p,9999999999999,1,0,0\n", "line 2: cpu_milli: '9999999999999' is no whole"),
        (PODS + "p," + "9" * 5000 + ",1,0,0\n", "9999…' is no whole number"),
        (PODS + "p,1,1,1,1001\n", "line 2: gpu_milli: '1001' is no whole number from 0 to 1,000;"),
        (PODS + "p,1,1,65,1000\n", "line 2: num_gpu: '65' is no whole number from 0 to 64;"),
        (PODS + "p,1,1,2,500\n", "line 2: gpu_milli: a pod of 2 GPUs takes them whole; set this"),
        (PODS + "p,1,1,1,0\n", "line 2: gpu_milli: nothing of a GPU is asked; set this to at lea"),
        (PODS + "p,1,1,0,500\n", "line 2: gpu_milli: 500 thousandths of no GPU are asked; set"),
        (PODS + " ,1,1,0,0\n", "line 2: name: the cell is empty; write a name."),
        (PODS + "p,1,1,0,0\np,1,1,0,0\n", "line 3: name: 'p' stands on line 2 already; rename"),
        (FULL + "p,1,1,1,5,T4|,,,,,\n", "line 2: gpu_spec: a model between two bars is missing;"),
        (FULL + "p,1,1,1,5,,,,x,,\n", "line 2: creation_time: 'x' is no whole number"),
        (PODS + '"p,1,1,0,0\n', "line 2: this is no CSV: unexpected end of data; close each quote"),
    ],
)
def test_a_fault_names_file_line_column_and_remedy(text: str, message: str) -> None:
    assert message in fault(text)


def test_bytes_that_are_no_utf8_are_told_with_their_line() -> None:
    assert fault(PODS.encode() + b"p,1,1,0,0\n\xff,1,1,0,0\n") == (
        "pods.csv, line 3: the text is not UTF-8; save the file as UTF-8."
    )


def test_a_recorded_replay_is_read() -> None:
    arrivals = read_arrivals(b"seq,pod,clone\n0,a,0\n1,a,1\n", source="s")
    ranks = read_ranks(b"rank,sn\n0,m\n1,n\n", source="s")
    placements = read_placements(b"seq,fgd,dotprod\n0,n:0-3,m\n1,-,m:7\n", source="s")

    assert arrivals == (TraceArrival("a", is_clone=False), TraceArrival("a", is_clone=True))
    assert ranks == ("m", "n")
    assert placements == {
        "fgd": (TracePlacement("n", (0, 3)), None),
        "dotprod": (TracePlacement("m"), TracePlacement("m", (7,))),
    }


def test_the_recorded_placements_of_the_public_trace_are_read_whole() -> None:
    found = openb_placements("default", "gpu_packing")

    assert len(found) == 10866
    assert sum(placement is None for placement in found) == 2794


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seq,fgd\n0,n\n2,n\n", "line 3: seq: 2 stands where 1 is due; restore the order of rows."),
        ("seq,fgd\n0,\n", "line 2: fgd: '' is no placement; write node, node:0-3 or -"),
        ("seq,fgd\n0,n:x\n", "line 2: fgd: 'n:x' is no placement"),
        ("seq,best\n0,n\n", "line 1: 'best': no such column is known; leave it out, or name one"),
    ],
)
def test_a_broken_recording_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(DocumentFault) as caught:
        read_placements(text.encode(), source="golden.csv")

    assert message in str(caught.value)


def test_a_node_ranks_once() -> None:
    with pytest.raises(DocumentFault) as caught:
        read_ranks(b"rank,sn\n0,n\n1,n\n", source="ranks.csv")

    assert str(caught.value) == (
        "ranks.csv, line 3: sn: 'n' stands on line 2 already; rename one of them."
    )
