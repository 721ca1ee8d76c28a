#!/usr/bin/env python3
"""Holds recorded exchanges against openapi.yaml.

Usage: check_contract.py OPENAPI EXCHANGES VENV

Every answer has to be one that the contract lists for its operation (or its default), with a media
type that it lists, and JSON has to fit the schema.  PyYAML and jsonschema are used if they are
installed; otherwise they are installed into the virtual environment VENV first.
"""

import json
import os
import re
import subprocess
import sys


def import_or_install(venv):
    try:
        import jsonschema
        import yaml

        return yaml, jsonschema
    except ImportError:
        python = os.path.join(venv, "bin", "python")
        if sys.executable == python:
            raise
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "pyyaml", "jsonschema"], check=True
        )
        os.execv(python, [python] + sys.argv)


def path_pattern(template):
    return re.compile("^" + re.sub(r"\{[^}]+\}", "[^/]+", template) + "$")


class Contract:
    def __init__(self, document, jsonschema):
        self.document = document
        self.jsonschema = jsonschema
        self.paths = [(path_pattern(path), item) for path, item in document["paths"].items()]
        self.validators = {}

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            at = self.document
            for name in node["$ref"].lstrip("#/").split("/"):
                at = at[name]
            node = at
        return node

    def operation(self, method, path):
        for pattern, item in self.paths:
            if pattern.match(path):
                return item.get(method.lower())
        return None

    def validator(self, operation, status, media, schema):
        key = (operation, status, media)
        if key not in self.validators:
            whole = dict(self.document)
            whole.pop("paths", None)
            whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
            whole["allOf"] = [schema]
            self.validators[key] = self.jsonschema.Draft202012Validator(whole)
        return self.validators[key]

    def problem_of_unknown(self, exchange):
        """404 and 405 of what the contract does not list: a Problem all the same."""
        schema = {"$ref": "#/components/schemas/Problem"}
        if exchange["status"] not in (400, 404, 405):
            return ["the contract has no such operation"]
        return self.schema_errors("unknown", exchange, "application/problem+json", schema)

    def schema_errors(self, operation, exchange, media, schema):
        if "json" not in media or "ndjson" in media:
            return []
        if "body" not in exchange:
            return ["there is no JSON body"]
        validator = self.validator(operation, exchange["status"], media, schema)
        return [
            "%s: %s" % (error.json_path, error.message)
            for error in validator.iter_errors(exchange["body"])
        ]

    def errors(self, exchange):
        path = exchange["path"].split("?")[0]
        operation = self.operation(exchange["method"], path)
        if operation is None:
            return self.problem_of_unknown(exchange)
        responses = operation["responses"]
        response = responses.get(str(exchange["status"]))
        if response is None:
            if exchange["status"] < 400 or "default" not in responses:
                return ["the contract does not list status %d" % exchange["status"]]
            response = responses["default"]
        content = self.resolve(response).get("content")
        if content is None:
            return ["there is a body"] if "body" in exchange else []
        media = exchange["contentType"].split(";")[0].strip()
        if media not in content:
            return ["the contract does not list %s" % media]
        return self.schema_errors(
            operation["operationId"], exchange, media, content[media]["schema"]
        )

    def operations(self):
        return {
            operation["operationId"]
            for item in self.document["paths"].values()
            for method, operation in item.items()
            if method != "parameters"
        }


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    yaml, jsonschema = import_or_install(sys.argv[3])
    with open(sys.argv[1]) as file:
        contract = Contract(yaml.safe_load(file), jsonschema)
    checked, failed, seen = 0, 0, set()
    with open(sys.argv[2]) as file:
        for line in file:
            exchange = json.loads(line)
            operation = contract.operation(exchange["method"], exchange["path"].split("?")[0])
            if operation is not None:
                seen.add(operation["operationId"])
            checked += 1
            problems = contract.errors(exchange)
            if problems:
                failed += 1
                print("%(method)s %(path)s -> %(status)d" % exchange)
                for problem in problems[:5]:
                    print("    " + problem[:400])
    missing = contract.operations() - seen
    if missing:
        print("no test calls: " + ", ".join(sorted(missing)))
    print("%d exchanges, %d do not fit the contract" % (checked, failed))
    sys.exit(1 if failed or missing or checked == 0 else 0)


if __name__ == "__main__":
    main()
