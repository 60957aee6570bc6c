"""Data from before, in parts: all or nothing, and nothing twice."""

import json

import pytest

from ossb.client import PART, ROWS, Client
from ossb.errors import InputError

FIRST = "/v1/campaigns/first"
WIDE = {
    "structure": "combinatorial",
    "sigma": 1.0,
    "feedback": "semi_bandit",
    "arm_set": "m_sets",
    "n_items": 60,
    "size": 40,
}


class Here(Client):
    """The client of a service in this process; answers may be lost."""

    def __init__(self, local):
        super().__init__("http://127.0.0.1:8090", sleep=lambda seconds: None)
        self.local, self.lose, self.bodies = local, [], []

    def _once(self, method, path, content, headers):
        answer = self.local(method, path, content=content, headers=headers)
        if content is not None:
            self.bodies.append(len(content))
            if self.lose and self.lose.pop(0):
                raise ConnectionResetError
        return answer.status_code, answer.content, 0.0


@pytest.fixture
def client(campaign):
    return Here(campaign)


def stands(campaign):
    found = campaign.get(FIRST).json()
    return found["events"], sum(found["plays"])


def test_a_bad_row_in_a_late_part_leaves_nothing(campaign, client):
    rows = [(0, 1)] * (ROWS + 500)
    rows[ROWS + 399] = (0, 7)
    with pytest.raises(InputError) as caught:
        client.import_rows("first", rows)
    assert caught.value.field == f"rows[{ROWS + 399}].observation"
    assert stands(campaign) == (1, 0)
    rows[ROWS + 399] = (0, 0)
    assert client.import_rows("first", rows, "log.csv", once=True) == len(rows)
    assert stands(campaign) == (2, len(rows))
    assert client.import_rows("first", rows, "log.csv", once=True) == 0
    assert stands(campaign) == (2, len(rows))


def test_lost_answers_count_nothing_twice(campaign, client):
    client.lose = [True, False, True, True, False]
    assert client.import_rows("first", [(0, 1)] * (2 * ROWS + 1)) == 2 * ROWS + 1
    assert len(client.bodies) == 6
    assert stands(campaign) == (2, 2 * ROWS + 1)


def test_wide_rows_fit(campaign, client):
    campaign.post(
        "/v1/campaigns", {"name": "wide", "instance": WIDE, "policy": {"name": "hgl"}, "seed": 1}
    )
    rows = [(list(range(i % 20, i % 20 + 40)), [0.123456] * 40) for i in range(2000)]
    assert client.import_rows("wide", rows) == 2000
    assert 1 < len(client.bodies) < 5
    assert max(client.bodies) < PART + 1000
    assert campaign.get("/v1/campaigns/wide").json()["rounds"] == 2000


def test_what_is_no_number_is_named_with_its_row(campaign, client):
    with pytest.raises(InputError, match=r"`rows\[1\].observation` must be finite"):
        client.import_rows("first", [(0, 1), (0, float("nan"))])
    assert client.import_rows("first", []) == 0
    assert stands(campaign) == (1, 0)


def part(campaign, number, last=False, upload="u", rows=((0, 1),), after=1):
    body = {"rows": list(rows), "after": after}
    body["part"] = {"upload": upload, "number": number, "last": last}
    return campaign.post(f"{FIRST}/import", body)


def test_parts_that_do_not_follow_begin_again(campaign):
    assert part(campaign, 1).status_code == 409  # as after a restart
    assert part(campaign, 0).json() == {"rows": 1, "events": 1}
    assert part(campaign, 2).status_code == 409
    assert part(campaign, 1).json() == {"rows": 2, "events": 1}
    assert campaign.post(f"{FIRST}/ask", {}).status_code == 200  # the campaign moves on
    assert part(campaign, 2, last=True).status_code == 409
    assert stands(campaign)[1] == 0
    assert part(campaign, 0, upload="v").status_code == 409
    assert part(campaign, 0, True, "v", after=2).json() == {"rows": 1, "events": 3}
    assert part(campaign, 0, True, "v", after=2).json() == {"rows": 1, "events": 3}
    assert part(campaign, 1, True, "v", after=3).status_code == 400
    assert stands(campaign)[1] == 1


def refused(answer):
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["field"]


def test_another_part_under_the_same_number_is_refused(campaign):
    assert part(campaign, 0, True).json() == {"rows": 1, "events": 2}
    again = {"after": 1, "source": "", "once": False, "rows": [[0, 1]]}
    upload = {"upload": "u", "number": 0, "last": True}
    same = campaign.post(f"{FIRST}/import", {**again, "part": upload})
    assert same.json() == {"rows": 1, "events": 2}
    for change in (
        {"rows": [[1, 0]] * 7},
        {"rows": [[0, 1.0]]},
        {"rows": [[99, "x"]]},
        {"after": 2},
        {"source": "log.csv"},
        {"once": True},
        {"part": {**upload, "last": False}},
    ):
        answer = campaign.post(f"{FIRST}/import", {**again, "part": upload, **change})
        assert refused(answer) == (409, "conflict", "part.upload")
        assert "a new upload id" in answer.json()["error"]["message"]
    assert stands(campaign) == (2, 1)
    assert part(campaign, 0, upload="v", after=2).json() == {"rows": 1, "events": 2}
    assert refused(part(campaign, 0, True, "v", after=2)) == (409, "conflict", "part.upload")
    assert part(campaign, 1, True, "v", after=2).json() == {"rows": 2, "events": 3}
    assert stands(campaign) == (3, 3)


def test_where_a_campaign_stands_elsewhere_the_field_is_named(campaign):
    answer = campaign.post(f"{FIRST}/import", {"rows": [[0, 1]], "after": 77})
    assert refused(answer) == (409, "conflict", "after")
    assert refused(part(campaign, 0, after=77)) == (409, "conflict", "after")
    assert refused(part(campaign, 3)) == (409, "conflict", "part.number")
    answer = campaign.post(f"{FIRST}/arms", {"arm": {}, "number": 77})
    assert refused(answer) == (409, "conflict", "number")
    assert stands(campaign) == (1, 0)


def test_only_so_many_are_remembered(campaign):
    from ossb.service.imports import MOST

    for upload in range(MOST + 1):
        assert part(campaign, 0, upload=str(upload)).status_code == 200
    assert part(campaign, 1, upload="0").status_code == 409
    assert part(campaign, 1, upload="1").status_code == 200
    assert len(campaign.service.imports._uploads) == MOST


def test_bad_parts_are_named(campaign):
    good = {"upload": "u", "number": 0, "last": True}
    for wrong, field in (
        (1, "part"),
        ({}, "part.upload"),
        ({**good, "more": 1}, "part.more"),
        ({**good, "upload": ""}, "part.upload"),
        ({**good, "number": -1}, "part.number"),
        ({**good, "last": 1}, "part.last"),
    ):
        body = {"rows": [[0, 1]], "after": 1, "part": wrong}
        refused = campaign.post(f"{FIRST}/import", body)
        assert (refused.status_code, refused.json()["error"]["field"]) == (400, field)
    refused = campaign.post(f"{FIRST}/import", {"rows": [], "after": 1, "once": 1})
    assert json.loads(refused.content)["error"]["field"] == "once"
    assert stands(campaign) == (1, 0)
