"""Selectors: what Kubernetes 1.37.2 answers, and how faults read.

The tables hold what the evaluator of Kubernetes 1.37.2 said of each expression on the device below.
"""

import pytest

from springtide.base.quantity import parse
from springtide.model.device_facts import DeviceFacts, SelectorFault, Version
from springtide.wire.cel import Selectors

DRIVER = "gpu.example.com"
DEVICE = DeviceFacts(
    driver=DRIVER,
    attributes={
        f"{DRIVER}/model": "h100",
        f"{DRIVER}/index": 3,
        f"{DRIVER}/healthy": True,
        f"{DRIVER}/driverVersion": Version("1.10.0"),
        f"{DRIVER}/zero": 0,
        f"{DRIVER}/pre": Version("2.0.0-rc.1+build5"),
        f"{DRIVER}/name": DRIVER,
        "other.example.com/serial": "x1",
    },
    capacity={
        f"{DRIVER}/memory": parse("80Gi"),
        f"{DRIVER}/cores": parse("108"),
        "other.example.com/bandwidth": parse("1500m"),
    },
    allows_multiple=True,
)

MATCHING = (
    "true",
    'device.driver == "gpu.example.com"',
    'device.attributes["gpu.example.com"].model in ["a100", "h100"]',
    'device.attributes["gpu.example.com"].model.startsWith("h")',
    'device.attributes["gpu.example.com"].?numa.orValue(0) == 0',
    'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0',
    'device.attributes["gpu.example.com"].driverVersion.major() == 1 && device.attributes["gpu.example.com"].driverVersion.minor() == 10',
    'has(device.attributes["gpu.example.com"].healthy) && device.attributes["gpu.example.com"].healthy',
    'device.attributes["gpu.example.com"].healthy',
    'device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("16Gi"))',
    '"serial" in device.attributes["other.example.com"]',
    'device.attributes["gpu.example.com"].model.matches("^[ah]1")',
    '"gpu.example.com" in device.attributes',
    '"other.example.com" in device.capacity',
    "has(device.attributes.foo)",
    "has(device.attributes)",
    'has(device.driver) && device.driver.endsWith("com")',
    "size(device.attributes) == 2",
    "device.attributes.size() == 2",
    'device.attributes.exists(d, d == "other.example.com")',
    'device.attributes.exists(d, v, d == "other.example.com" && "serial" in v)',
    'device.attributes["gpu.example.com"].all(n, n.size() > 2)',
    'device.attributes[device.driver].model == "h100"',
    'device.attributes[device.driver + "x"].?model.orValue("none") == "none"',
    'device.attributes[device.attributes["gpu.example.com"].name].model == "h100"',
    'cel.bind(d, device.attributes["gpu.example.com"], d.model == "h100" && d.index == 3)',
    'cel.bind(a, device.attributes, a["none"].?x.orValue(1) == 1)',
    'device.attributes["none"].?x.orValue(1) == 1',
    'device.attributes[?"none"].hasValue()',
    "device.attributes.?foo.hasValue()",
    'device.attributes[?"gpu.example.com"].?model.orValue("") == "h100"',
    "device.allowMultipleAllocations",
    'device.attributes["gpu.example.com"].driverVersion != "1.10.0"',
    'device.attributes["gpu.example.com"].driverVersion == semver("1.10.0")',
    'device.attributes["gpu.example.com"].pre == semver("2.0.0-rc.1")',
    'device.attributes["gpu.example.com"].pre.isLessThan(semver("2.0.0"))',
    'device.attributes["gpu.example.com"].driverVersion in [semver("1.10.0")]',
    'device.attributes["gpu.example.com"].index == 3.0',
    'device.attributes["gpu.example.com"].index > 2.5',
    'type(device.attributes["gpu.example.com"].index) == int',
    'type(device.attributes["gpu.example.com"].model) == string',
    'string(device.attributes["gpu.example.com"].index) == "3"',
    'device.capacity["gpu.example.com"].memory == quantity("80Gi")',
    'device.capacity["gpu.example.com"].memory == quantity("81920Mi")',
    'quantity("80Gi") == device.capacity["gpu.example.com"].memory',
    'device.capacity["gpu.example.com"].memory.asInteger() == 85899345920',
    'device.capacity["gpu.example.com"].memory.asInteger() > 1024',
    'device.capacity["other.example.com"].bandwidth.asApproximateFloat() == 1.5',
    'device.capacity["gpu.example.com"].cores.add(2).asInteger() == 110',
    'device.capacity["gpu.example.com"].cores.sub(quantity("100")).compareTo(quantity("8")) == 0',
    'device.capacity["gpu.example.com"].memory.sub(device.capacity["gpu.example.com"].memory).isLessThan(quantity("1"))',
    'sign(device.capacity["gpu.example.com"].memory) == 1',
    'isQuantity("x") || isQuantity("1.5Gi")',
    'isQuantity("1.5Gi")',
    'isSemver("v1.0", true)',
    'semver("v1.0", true) == semver("1.0.0")',
    'semver("v01.02.03", true).patch() == 3',
    'semver("1.2.3", false).patch() == 3',
    'isSemver("1.2.3-a+b.01")',
    'isSemver("18446744073709551615.0.0")',
    'isSemver("1.2.00-rc", true)',
    'semver("1.0.0-alpha").compareTo(semver("1.0.0-alpha.1")) == -1',
    'semver("1.0.0-alpha.1").compareTo(semver("1.0.0-alpha.beta")) == -1',
    'semver("1.0.0-2").compareTo(semver("1.0.0-11")) == -1',
    'semver("1.0.0-b").compareTo(semver("1.0.0-11")) == 1',
    'semver("1.0.0+a").compareTo(semver("1.0.0+b")) == 0',
    'semver("1.0.0+a") == semver("1.0.0+b")',
    "1 < 1.5",
    "1u < 2",
    "1u <= 1.5 && 2 >= 1u && 1.5 > 1",
    "dyn(1) == 1u",
    "[1, 2, 3].sum() == 6",
    "[1.5, 2.5].sum() == 4.0",
    "[1u, 2u].sum() == 3u",
    "[].sum() == 0",
    "[1, 3, 2].max() == 3 && [1, 3, 2].min() == 1",
    '["b", "a"].min() == "a"',
    "[1, 2, 2].isSorted()",
    '["a", "b"].isSorted()',
    "[1, 2, 2].indexOf(2) == 1",
    "[1, 2, 2].lastIndexOf(2) == 2",
    "[1, 2].indexOf(5) == -1",
    '["a", "b"].indexOf("b") == 1',
    '"abc".indexOf("b") == 1',
    '"abcb".lastIndexOf("b") == 3',
    '"abc 123".find("[0-9]+") == "123"',
    '"abc 123".find("[0-9]*") == ""',
    '"abc 123".find("xyz") == ""',
    '"abc 123".find("(a)(b)") == "ab"',
    '"123 abc 456".findAll("[0-9]+") == ["123", "456"]',
    '"123 abc 456".findAll("[0-9]+", 1) == ["123"]',
    '"123 abc 456".findAll("[0-9]+", 0) == []',
    '"123 abc 456".findAll("[0-9]+", -1) == ["123", "456"]',
    '"123 abc 456".findAll("([0-9])([0-9]+)") == ["123", "456"]',
    '"123 abc 456".findAll("xyz") == []',
    '"ab".matches("^(?i)AB$")',
    'duration("1h") > duration("1m")',
    'timestamp("2020-01-01T00:00:00Z") < timestamp("2021-01-01T00:00:00Z")',
    '"h100".charAt(0) == "h" && "A".lowerAscii() == "a" && "a".upperAscii() == "A"',
    '"a,b".split(",") == ["a", "b"] && ["a", "b"].join("-") == "a-b"',
    '"abc".replace("b", "x") == "axc" && "abc".substring(1, 2) == "b" && " a ".trim() == "a"',
    '"%s is %d".format(["a", 1]) == "a is 1"',
    'strings.quote("a") == "\\"a\\""',
    "sets.contains([1, 2], [1]) && sets.equivalent([1], [1]) && sets.intersects([1], [1, 2])",
    "[1, 2, 3].exists(i, v, i == 2 && v == 3)",
    "[1, 2].transformList(i, v, v * 2) == [2, 4]",
    '{"a": 1}.transformMap(k, v, v + 1) == {"a": 2}',
    "[3, 1, 2].sort() == [1, 2, 3]",
    "[1, 1].distinct() == [1]",
    "[[1], [2]].flatten() == [1, 2]",
    "[1, 2].reverse() == [2, 1]",
    "[1, 2, 3].slice(0, 2) == [1, 2]",
    "lists.range(3) == [0, 1, 2]",
    "[1, 2].first().orValue(0) == 1",
    "[1, 2].last().orValue(0) == 2",
    "[1, 2].includes(2)",
    'device.attributes["gpu.example.com"].model.includes("h100")',
    "optional.of(1).hasValue()",
    'device.attributes["gpu.example.com"].nope == 1 || true',
    'true || device.attributes["gpu.example.com"].nope == 1',
    'false ? device.attributes["gpu.example.com"].nope : true',
    'device.attributes["gpu.example.com"].healthy ? true : false',
    'device.attributes["gpu.example.com"].model || true',
    "[1, 2].exists_one(x, x == 1)",
    "[1, 2].map(x, x * 2).filter(x, x > 2) == [4]",
    "[1, 2].map(x, x > 1, x * 2) == [4]",
    'int("12") == 12 && string(1) == "1" && double("1.5") == 1.5 && bool("true")',
    'b"a" == b"a"',
    "null == null",
    'device.attributes["gpu.example.com"].model.size() == 4',
    'device.attributes["gpu.example.com"].model + "x" == "h100x"',
    "'single' == \"single\"",
    "device.attributes['gpu.example.com'].model == 'h100'",
    'device.attributes["gpu.example.com"]["model"] == "h100"',
    'device.attributes["gpu.example.com"].`model` == "h100"',
    '[device.driver].exists(device, device == "gpu.example.com")',
    '[1].exists(x, x == 1 && device.driver == "gpu.example.com")',
    "device.attributes == device.attributes",
    'device.attributes["none"] == {}',
    'device.attributes["none"].size() == 0',
    '"a".contains("a") || "a".endsWith("b")',
    '!(device.driver in ["a", "b"])',
    'device.driver in {"gpu.example.com": true}',
    'device.capacity["gpu.example.com"].exists(n, n == "memory")',
    'device.capacity["gpu.example.com"].exists(n, v, v.isGreaterThan(quantity("70Gi")))',
    '[quantity("1"), quantity("2")].exists(q, q.isGreaterThan(quantity("1")))',
)

NOT_MATCHING = (
    "false",
    'device.attributes["gpu.example.com"].?index.orValue(0) == 0',
    'device.attributes["gpu.example.com"].index < 2',
    'has(device.attributes["gpu.example.com"].driverVersion) && device.attributes["gpu.example.com"].driverVersion.compareTo(semver("2.0.0")) >= 0',
    'device.attributes["gpu.example.com"].driverVersion.isLessThan(semver("1.9.9"))',
    '"serial" in device.attributes["third.example.com"]',
    '"none.example.com" in device.attributes',
    '"none.example.com" in device.capacity',
    'device.attributes[?"none"].?model.orValue("") == "h100"',
    '"1.10.0" == device.attributes["gpu.example.com"].driverVersion',
    'device.attributes["gpu.example.com"].model == 3',
    'device.attributes["gpu.example.com"].index == "3"',
    'device.capacity["other.example.com"].bandwidth.isInteger()',
    'quantity("1000m").isInteger()',
    'isSemver("1.0")',
    'isSemver("1.2.3-a.01")',
    'isSemver("1.2.3-")',
    'isSemver("1.2.3+")',
    'isSemver("1.02.3")',
    'isSemver("18446744073709551616.0.0")',
    'isSemver("v1-rc", true)',
    'isSemver("1.0.0.0", true)',
    'isSemver("", true)',
    'isSemver("")',
    "[2, 1].isSorted()",
    '"abc".matches(device.driver)',
    'device.attributes["gpu.example.com"].model.includes("x")',
    'device.attributes["gpu.example.com"].driverVersion.includes("x")',
    "optional.none().hasValue()",
    "optional.ofNonZeroValue(0).hasValue()",
    'device.attributes["gpu.example.com"].nope == 1 && false',
    'device.attributes["gpu.example.com"].model && false',
    'device.attributes["gpu.example.com"].index == null',
    'has(device.attributes["gpu.example.com"].model.x)',
    'device.attributes["gpu.example.com"] == {}',
    'device.attributes["none"].exists(x, true)',
    "dyn(device.driver) == 1",
)

# Kubernetes fails on these too; the words are ours where it has none of its own.
FAILING = {
    'device.attributes["gpu.example.com"].model': "CEL result of type string could not be converted to bool",
    'device.attributes["gpu.example.com"].numa == 0': "no such key: numa",
    'device.attributes["none.example.com"].numa == 0': "no such key: numa",
    'device.capacity["none.example.com"].numa.isInteger()': "no such key: numa",
    'device.capacity["gpu.example.com"].nothing.isInteger()': "no such key: nothing",
    "device.attributes.foo.bar": "no such key: bar",
    'device.attributes["gpu.example.com"].driverVersion == "1.10.0"': "no such overload: == of a version",
    'device.attributes["gpu.example.com"].driverVersion in ["1.10.0"]': "no such overload: in of a version",
    'device.attributes["gpu.example.com"].driverVersion < device.attributes["gpu.example.com"].pre': "no such overload: < of a version",
    'device.attributes["gpu.example.com"].model < 3': "no such overload: _<_(string, int)",
    'device.attributes["gpu.example.com"].index.isGreaterThan(quantity("1"))': "no such overload: (int).isGreaterThan(quantity or version)",
    'device.attributes["gpu.example.com"].model.isGreaterThan(semver("1.0.0"))': "no such overload: (string).isGreaterThan(quantity or version)",
    'device.attributes["gpu.example.com"].driverVersion.isGreaterThan(quantity("1"))': "no such overload: compareTo(kubernetes.Semver, kubernetes.Quantity)",
    'string(device.attributes["gpu.example.com"].driverVersion) == "1.10.0"': "no such overload: string(version)",
    'device.capacity["other.example.com"].bandwidth.asInteger() == 1': "cannot convert value to integer",
    'quantity("x").isInteger()': "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    'quantity("9999999999999999999999999999999999999G").asInteger() == 1': "cannot convert value to integer",
    'semver("v1.2.3", false).patch() == 3': 'Invalid character(s) found in major number "v1"',
    'semver("1.2.x").patch() == 3': 'Invalid character(s) found in patch number "x"',
    "[].max() == 1": "max called on empty list",
    "[1].filter(x, x > 1).max() == 1": "max called on empty list",
    'device.attributes["gpu.example.com"].index.exists(x, x > 0)': "no such overload: only lists and maps have elements",
    "optional.none().value() == 1": "optional.none() dereference",
    'device.attributes["gpu.example.com"].nope == 1 && true': "no such key: nope",
    'device.attributes["gpu.example.com"].nope == 1 ? true : false': "no such key: nope",
    '!device.attributes["gpu.example.com"].model': "no such overload: !_",
    'device.attributes["gpu.example.com"].model ? true : false': "no such overload: the condition is no bool",
    'device.attributes["gpu.example.com"].model && true': "no such overload: _&&_",
    '1 / device.attributes["gpu.example.com"].zero == 1': "division by zero",
    '1 % device.attributes["gpu.example.com"].zero == 1': "modulus by zero",
    "9223372036854775807 + 1 == 0": "integer overflow",
    '9223372036854775807 + device.attributes["gpu.example.com"].index == 0': "integer overflow",
    "[1, 2][5] == 1": "index out of bounds: 5",
    '{"a": 1}["b"] == 1': "no such key: b",
    '{"a": 1}.b == 1': "no such key: b",
    'device.attributes["gpu.example.com"].model.x == 1': "no such overload: only maps have keys",
    'device.attributes["gpu.example.com"].index.size() == 4': "no such overload: (int).size()",
    'device.attributes["gpu.example.com"].model + 1 == 1': "no such overload: _+_(string, int)",
    'device.attributes["gpu.example.com"].driverVersion.size() == 6': "no such overload: size of a version",
    'device.attributes[device.attributes["gpu.example.com"].pre].x == 1': "invalid qualifier type: a version",
    'quantity("110") == device.capacity["gpu.example.com"].cores.add(2)': "no such overload: == with a computed quantity on the right",
    'semver("1.0.0") == device.attributes["gpu.example.com"].model': "no such overload: == of a version",
    "lists.range(100000).size() == 1": "lists.range: size exceeds maximum allowed (10000)",
}

REFUSED = {
    "device.driver": "it must evaluate to bool, not string",
    "device.foo == 1": "line 1, column 7: undefined field 'foo': device has driver, attributes, capacity, allowMultipleAllocations",
    'device.attribute["x"].y': "line 1, column 7: undefined field 'attribute': device has driver, attributes, capacity, allowMultipleAllocations",
    'device["driver"] == "x"': "line 1, column 1: device is no value by itself: name one of its fields",
    "device": "line 1, column 1: device is no value by itself: name one of its fields",
    "device.driver.foo": "line 1, column 14: expression of type 'string' cannot be the operand of a select operation",
    'device.attributes["gpu.example.com"].driverVersion < semver("2.0.0")': "line 1, column 52: found no matching overload for '<' applied to '(dyn, kubernetes.Semver)'",
    'device.capacity["gpu.example.com"].memory == "80Gi"': "line 1, column 43: found no matching overload for '==' applied to '(kubernetes.Quantity, string)'",
    'device.capacity["gpu.example.com"].memory > quantity("1Gi")': "line 1, column 43: found no matching overload for '>' applied to '(kubernetes.Quantity, kubernetes.Quantity)'",
    'device.capacity["gpu.example.com"].memory.sign() == 1': "line 1, column 47: undeclared reference to 'sign'",
    "quantity(1).isInteger()": "line 1, column 9: found no matching overload for 'quantity' applied to '(int)'",
    'quantity("50k").mul(2).isInteger()': "line 1, column 20: undeclared reference to 'mul'",
    'semver("1.0")': "it must evaluate to bool, not kubernetes.Semver",
    'semver("1.0.0") == quantity("1")': "line 1, column 17: found no matching overload for '==' applied to '(kubernetes.Semver, kubernetes.Quantity)'",
    'semver("1.0.0").isLessThan(quantity("1"))': "line 1, column 27: found no matching overload for 'isLessThan' applied to '(kubernetes.Semver, kubernetes.Quantity)'",
    "1": "it must evaluate to bool, not int",
    '"a"': "it must evaluate to bool, not string",
    "1 == 1.0": "line 1, column 3: found no matching overload for '==' applied to '(int, double)'",
    '1 == "a"': "line 1, column 3: found no matching overload for '==' applied to '(int, string)'",
    '[1, "a"].size() == 2': "line 1, column 5: expected type 'int' but found 'string'",
    '{"a": 1, "b": "c"}.size() == 2': "line 1, column 15: expected type 'int' but found 'string'",
    '{"a": 1, 2: 3}.size() == 2': "line 1, column 10: expected type 'string' but found 'int'",
    '["a"].sum() == "a"': "line 1, column 10: found no matching overload for 'sum' applied to '(list(string))'",
    '[device.attributes["gpu.example.com"].index, 5].max() == 5': "line 1, column 46: expected type 'dyn' but found 'int'",
    '[device.attributes["gpu.example.com"].model, 5].max() == 5': "line 1, column 46: expected type 'dyn' but found 'int'",
    '[1, 2].indexOf("a") == -1': "line 1, column 15: found no matching overload for 'indexOf' applied to '(list(int), string)'",
    '"a".find("(") == ""': "line 1, column 10: invalid find argument: missing ), unterminated subpattern at position 0",
    '"a".matches("(")': "line 1, column 13: invalid matches argument: missing ), unterminated subpattern at position 0",
    '"a".matches("a(?=b)")': "line 1, column 13: invalid matches argument: lookaround, atomic groups and references are not supported",
    'duration("x") > duration("1m")': "line 1, column 10: invalid duration argument: String to Duration conversion failed",
    'timestamp("x") < timestamp("2021-01-01T00:00:00Z")': "line 1, column 11: invalid timestamp argument: String to Timestamp conversion failed",
    '"abc".reverse() == "cba"': "line 1, column 14: found no matching overload for 'reverse' applied to '(string)'",
    "math.greatest(1, 2) == 2": "line 1, column 1: undeclared reference to 'math'; line 1, column 14: undeclared reference to 'greatest'",
    'base64.encode(b"a") == "YQ=="': "line 1, column 1: undeclared reference to 'base64'; line 1, column 14: undeclared reference to 'encode'",
    'int("x") == 1': "line 1, column 5: invalid int argument: cannot convert string to int",
    '"a" + 1 == "a"': "line 1, column 5: found no matching overload for '+' applied to '(string, int)'",
    "device.driver ==": "line 1, column 17: Syntax error: it ends too early",
    "?!": "line 1, column 1: Syntax error: '?' does not belong here; line 1, column 3: Syntax error: it ends too early",
    "foo == 1": "line 1, column 1: undeclared reference to 'foo'",
    'device.driver == "a" &&\n  foo == 1': "line 2, column 3: undeclared reference to 'foo'",
    '"unterminated': "line 1, column 1: Syntax error: token recognition error at: '\"unterminated'; line 1, column 14: Syntax error: it ends too early",
    'device.driver = "a"': "line 1, column 15: Syntax error: token recognition error at: '= '; line 1, column 17: Syntax error: '\"a\"' does not belong here",
    'device.driver == "a" and true': "line 1, column 22: Syntax error: 'and' does not belong here",
    '[quantity("1"), quantity("2")].max() == quantity("2")': "line 1, column 35: found no matching overload for 'max' applied to '(list(kubernetes.Quantity))'",
}


@pytest.mark.parametrize("expression", MATCHING)
def test_an_expression_that_holds_matches(expression: str) -> None:
    answer = Selectors().matches(expression, DEVICE)

    assert answer


@pytest.mark.parametrize("expression", NOT_MATCHING)
def test_an_expression_that_does_not_hold_does_not_match(expression: str) -> None:
    answer = Selectors().matches(expression, DEVICE)

    assert not answer


@pytest.mark.parametrize(("expression", "reason"), FAILING.items())
def test_an_expression_without_a_value_fails_and_says_why(expression: str, reason: str) -> None:
    selectors = Selectors()

    with pytest.raises(SelectorFault) as caught:
        selectors.matches(expression, DEVICE)

    assert str(caught.value) == reason


@pytest.mark.parametrize(("expression", "reason"), REFUSED.items())
def test_an_expression_that_does_not_compile_is_refused_with_the_place(
    expression: str, reason: str
) -> None:
    selectors = Selectors()

    fault = selectors.fault_of(expression)

    assert fault == reason
    with pytest.raises(SelectorFault, match="compilation failed: "):
        selectors.matches(expression, DEVICE)


@pytest.mark.parametrize("expression", [*MATCHING, *NOT_MATCHING, *FAILING])
def test_an_expression_that_compiles_has_no_fault(expression: str) -> None:
    fault = Selectors().fault_of(expression)

    assert fault is None
