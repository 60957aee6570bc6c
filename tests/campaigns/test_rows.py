"""Files of data from before."""

import io

import polars
import pytest

from ossb.campaigns import Campaign, read_rows
from ossb.errors import InputError

NAMED = {"structure": "classical", "sigma": 1.0, "n_arms": 3, "arm_names": ["a", "b", "c"]}
SEMI = {
    "structure": "combinatorial",
    "sigma": 1.0,
    "feedback": "semi_bandit",
    "arms": [[1, 1, 0], [0, 1, 1]],
}


def test_files_are_read(tmp_path, clock):
    table = polars.DataFrame({"arm": ["a", "c", "1"], "observation": [0.5, -1.0, 2.0]})
    table.write_csv(tmp_path / "log.csv")
    table.write_parquet(tmp_path / "log.parquet")
    for name in ("log.csv", "log.parquet"):
        rows = read_rows(tmp_path / name)
        assert rows == [("a", 0.5), ("c", -1.0), ("1", 2.0)]
        campaign = Campaign.open("memory://", "c", instance=NAMED, clock=clock)
        campaign.import_rows(rows)
        assert campaign.describe()["means"] == [0.5, 2.0, -1.0]


def test_lists_are_read(tmp_path, clock):
    (tmp_path / "log.csv").write_text('arm,observation\n0,"[1.5, 2]"\n1,"[0, 1]"\n')
    campaign = Campaign.open("memory://", "c", instance=SEMI, clock=clock)
    campaign.import_rows(read_rows(tmp_path / "log.csv"))
    assert campaign.describe()["components"]["means"] == [1.5, 1.0, 1.0]
    polars.DataFrame({"arm": [1], "observation": [[0.0, 3.0]]}).write_parquet(
        tmp_path / "l.parquet"
    )
    campaign.import_rows(read_rows(tmp_path / "l.parquet"))
    assert campaign.describe()["components"]["means"] == pytest.approx([1.5, 2 / 3, 2.0])


@pytest.mark.parametrize("names", [["1", "2", "3"], ["9.99", "15.90", "007"]])
def test_names_that_look_like_numbers_are_names(tmp_path, names, clock):
    arms = [names[0], names[0], names[2]]
    text = "arm,observation\n" + "".join(f"{arm},1\n" for arm in arms)
    (tmp_path / "log.csv").write_text(text)
    table = polars.DataFrame({"arm": arms, "observation": [1.0, 1.0, 1.0]})
    table.write_parquet(tmp_path / "log.parquet")
    for file in ("log.csv", "log.parquet"):
        campaign = Campaign.open(
            "memory://", "c", instance={**NAMED, "arm_names": names}, clock=clock
        )
        campaign.import_rows(read_rows(tmp_path / file))
        assert campaign.describe()["plays"] == [2, 0, 1]


def test_numbers_of_a_parquet_file_are_names_too(tmp_path, clock):
    table = polars.DataFrame({"arm": [1, 1, 2], "observation": [1.0, 1.0, 1.0]})
    table.write_parquet(tmp_path / "log.parquet")
    for names, plays in ((["1", "2", "3"], [2, 1, 0]), (["a", "b", "c"], [0, 2, 1])):
        campaign = Campaign.open(
            "memory://", "c", instance={**NAMED, "arm_names": names}, clock=clock
        )
        campaign.import_rows(read_rows(tmp_path / "log.parquet"))
        assert campaign.describe()["plays"] == plays


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("arm,observation\nb,1\n2,0.5\n"))
    assert read_rows("-") == [("b", 1.0), ("2", 0.5)]


@pytest.mark.parametrize("text", [None, "", "arm,value\n0,1\n"])
def test_bad_files_are_named(tmp_path, text):
    path = tmp_path / "log.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_rows(path)
    assert caught.value.field == "file"
