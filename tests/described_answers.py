"""Whether an answer is what the OpenAPI document says: the little of JSON Schema that it uses."""

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def wrong(value, schema, where="answer"):
    """Where a value is not as a schema says, or None."""
    if "anyOf" in schema:
        found = [wrong(value, one, where) for one in schema["anyOf"]]
        return None if None in found else f"{where}: {value!r} is none of {len(found)}: {found}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where}: {value!r} is none of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        return f"{where}: {value!r} is not {schema['const']!r}"
    kind = schema.get("type")
    if kind is not None:
        number = kind in ("integer", "number") and isinstance(value, bool)
        if number or not isinstance(value, TYPES[kind]):
            return f"{where}: {value!r} is no {kind}"
    if "minimum" in schema and value < schema["minimum"]:
        return f"{where}: {value!r} is below {schema['minimum']}"
    if kind == "array" and "items" in schema:
        for i, entry in enumerate(value):
            if found := wrong(entry, schema["items"], f"{where}[{i}]"):
                return found
    if kind == "object":
        return _wrong_keys(value, schema, where)
    return None


def _wrong_keys(value, schema, where):
    known = schema.get("properties", {})
    for key in schema.get("required", ()):
        if key not in value:
            return f"{where}.{key} is missing"
    if schema.get("additionalProperties") is False and value.keys() - known.keys():
        return f"{where} has {sorted(value.keys() - known.keys())}, which is not described"
    for key in value.keys() & known.keys():
        if found := wrong(value[key], known[key], f"{where}.{key}"):
            return found
    return None


def check(description, method, path, answer):
    """Assert that an answer is one of those described, with its headers and its content."""
    call = description["paths"][path][method.lower()]
    status = str(answer.status_code)
    assert status in call["responses"], (method, path, status, answer.text[:200])
    described = call["responses"][status]
    for header in described["headers"]:
        assert header in answer.headers, (method, path, status, header)
    (kind, content), *_ = described["content"].items()
    assert answer.headers["content-type"].partition(";")[0] == kind, (method, path)
    if kind == "application/json":
        found = wrong(answer.json(), content["schema"])
        assert found is None, (method, path, status, found)
