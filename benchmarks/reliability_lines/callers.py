"""Bad input, tokens, and callers that strain; and experiments that are killed."""

import importlib.util
from pathlib import Path

from reliability_lines import Line

TESTS = Path(__file__).parents[2] / "tests"


def module(path):
    """A module of the tests, by its path."""
    found = importlib.util.spec_from_file_location(Path(path).stem, TESTS / path)
    loaded = importlib.util.module_from_spec(found)
    found.loader.exec_module(loaded)
    return loaded


def service(folder):
    from ossb.campaigns import open_storage
    from ossb.service.app import Service
    from service_calls import BODY, Local

    local = Local(Service(open_storage(f"sqlite:///{folder / 'campaigns.db'}")))
    assert local.post("/v1/campaigns", BODY).status_code == 201
    local.decision = local.post("/v1/campaigns/first/ask", {}).json()["decisions"][0]
    return local


def bad_input(folder, counts):
    """The hand-made bodies, and as many generated ones as asked for."""
    from hypothesis import HealthCheck, given, seed, settings

    cases = module("service/test_bad_input.py")
    local = service(folder)
    hand_made = 0
    for rest, _, body, field in cases.TABLE:
        cases.check(local, cases.FIRST + rest if rest else "/v1/campaigns", body, field)
        hand_made += 1
    for _, text, field in cases.OBSERVATIONS:
        body = cases.raw("observation", text, id=local.decision["id"])
        cases.check(local, f"{cases.FIRST}/tell", body, field)
        hand_made += 1
    made = [0]

    def generate(strategies, check, wanted, number):
        @seed(number)
        @settings(
            max_examples=wanted,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(*strategies)
        def run(one, other):
            made[0] += 1
            check(local, one, other)

        run()

    bodies = (cases.PATHS, cases.BODIES), cases.check_body
    turns = [
        bodies,
        ((cases.NEARLY, cases.MORE), cases.check_restriction),
        ((cases.NEW_ARMS, cases.TURNS), cases.check_arm),
        ((cases.INSTANCES, cases.POLICY_NAMES), cases.check_instance),
        bodies,
    ]
    number, most = 0, max(1, min(2000, counts["bodies"] // len(turns)))
    while made[0] < counts["bodies"]:  # what was tried before is not tried again in one round
        wanted = min(most, counts["bodies"] - made[0])
        generate(*turns[number % len(turns)], wanted, number)
        number += 1
    local.close()
    return hand_made >= 200, (
        f"{hand_made} hand-made, {made[0]:,} generated: no 5xx, no change, each names its field"
    )


def matrix(folder, counts):
    """Every route with every kind of token."""
    cases = module("service/test_tokens.py")
    local = service(folder)
    tokens = cases.issue(local)
    tried = wrong = 0
    for _ in range(counts["rounds"]):
        for method, path in cases.DECLARED:
            for kind, token in tokens.items():
                status = cases.call(local, method, path, token)
                tried += 1
                wrong += status not in cases.allowed(method, path, kind)
    cases.test_the_table_has_every_route()
    local.close()
    return wrong == 0, f"{tried} calls, {wrong} otherwise than declared"


def strain(folder, counts):
    from service_strain import strain as run

    row = run(folder, counts["idle"], counts["slow"], counts["megabytes"] * 10**6, counts["depth"])
    refused = {row["announced"], row["chunked"]} <= {"413", "cut"}
    refused = refused and {row["deep"], row["deep_and_short"]} <= {"400", "413"}
    held = refused and row["served"] == row["asked"] and row["growth"] < 2 and not row["exit_code"]
    held = held and row["cut_off"] == row["connections"]
    return held, (
        f"{row['cut_off']} of {row['connections']} connections cut off, bodies answered "
        f"{row['announced']} and {row['chunked']}, deep ones {row['deep']} and "
        f"{row['deep_and_short']}; {row['served']} of {row['asked']} others served, memory "
        f"{row['growth']} × {row['megabytes']} MB"
    )


def experiments(folder, counts):
    """Drivers and workers of an experiment, killed and resumed."""
    from experiment_cases import contents, many
    from ossb.experiments.run import run

    cases = module("experiments/test_kills.py")
    run(many(), folder / "whole", compiled=False)
    whole = contents(folder / "whole")
    text = []
    for workers in (1, 2, 4):
        killed = cases.kill_and_resume(folder / f"{workers}", workers, counts["kills"], whole)
        text.append(
            f"{workers} workers: {killed.count('driver')} drivers, {killed.count('worker')} workers"
        )
    return True, f"byte-identical; {'; '.join(text)} killed"


LINES = [
    Line(
        "experiments",
        "experiment driver or a worker killed at {kills} moments, with 1, 2, 4 workers",
        "result files byte-identical to the uninterrupted run",
        {"kills": 50},
        experiments,
    ),
    Line(
        "bad-input",
        "hand-made and {bodies} generated bodies",
        "no 5xx, no state change, each error names its field",
        {"bodies": 20_000},
        bad_input,
        least=200,
    ),
    Line(
        "tokens",
        "every route × every kind of token, {rounds} times",
        "as declared",
        {"rounds": 2},
        matrix,
        least=1,
    ),
    Line(
        "strain",
        "{slow} slow and {idle} idle connections, a body of {megabytes} MB, JSON {depth} deep",
        "limits hold, memory < 2×",
        {"idle": 1000, "slow": 100, "megabytes": 1000, "depth": 100_000},
        strain,
        least=20,
    ),
]
