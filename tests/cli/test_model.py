"""`model`, `predict` and `serve` on a project that is served."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from featurekit.online.refresh import drop_space
from tests.cli.conftest import ROOT, Cli
from tests.cli.served import Served
from tests.serving.onnx_models import echo

COLUMNS = ("--exclude", "customer_spend.spend_7d", "--exclude", "customer_spend.last_amount")


@pytest.fixture
def model(cli: Cli, served: Served, folder: Path) -> Path:
    """A model that answers with what it sees, orders_7d and times_usual; registered as `again`."""
    file = echo(folder / "again.onnx", 2)
    made = cli("model", "register", "again", "--onnx", str(file), "--service", "checkout", *COLUMNS)
    assert made.exit_code == 0, made.stderr
    assert "model again v1: 2 columns of checkout" in made.stdout
    return file


def test_a_registered_model_is_listed_and_predicts(cli: Cli, model: Path) -> None:
    listed = cli("model", "list")
    assert "again  v1" in listed.stdout
    shown = cli("predict", "again", "customer_id=1", "basket_amount=61.25")
    assert shown.exit_code == 0, shown.stderr
    assert "CPUExecutionProvider" in shown.stdout
    document = cli("predict", "again", "customer_id=1", "basket_amount=61.25", "--json").document
    assert document["predictions"][0]["answer"] == pytest.approx([3.0, 3.0])  # 61.25 is 3 × 61.25 / 3
    assert cli("list", "--json").document["models"][0]["name"] == "again"
    assert cli("model", "list", "--json").document["models"][0]["columns"][0] == "customer_spend.orders_7d"


def test_rows_of_a_file_are_predicted_together(cli: Cli, model: Path, folder: Path) -> None:
    (folder / "rows.json").write_text(
        '[{"customer_id": 1, "basket_amount": 1}, {"customer_id": 2, "basket_amount": 2}]'
    )
    shown = cli("predict", "again", "--file", "rows.json", "--json")
    assert shown.exit_code == 0, shown.stderr
    assert [each["keys"]["customer_id"] for each in shown.document["predictions"]] == [1, 2]


def test_what_is_wrong_with_a_model_exits_with_2(cli: Cli, model: Path, folder: Path) -> None:
    (folder / "text.onnx").write_text("no model")
    for words, says in (
        (("text", "--onnx", "text.onnx", "--service", "checkout"), "text.onnx is not a model"),
        (("gone", "--onnx", "gone.onnx", "--service", "checkout"), "gone.onnx"),
        (("again", "--onnx", str(model), "--service", "chekout"), "'chekout' is not registered"),
        (("again", "--onnx", str(model), "--service", "checkout"), "the model takes 2 columns, and 4 were chosen"),
    ):
        shown = cli("model", "register", *words)
        assert shown.exit_code == 2, words
        assert says in shown.stderr
    assert cli("predict", "agian", "customer_id=1", "basket_amount=1").exit_code == 2
    assert cli("predict", "again", "customer_id=one", "basket_amount=1").exit_code == 2
    assert len(cli("model", "list", "--json").document["models"]) == 1


def test_a_prediction_without_its_features_exits_with_3(cli: Cli, model: Path, served: Served) -> None:
    drop_space(served.store, served.space)
    shown = cli("predict", "again", "customer_id=1", "basket_amount=1")
    assert (shown.exit_code, shown.stdout) == (3, "")
    assert "FeaturesUnavailableError: features of model again are UNAVAILABLE for 1 of 1 rows" in shown.stderr
    assert "KEY_SPACE_DROPPED" in shown.stderr


def test_serve_answers_until_it_is_told_to_stop(model: Path, folder: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "featurekit.cli.app", "serve", "--port", "0", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            text += server.stdout.readline()
        body = json.dumps({"entities": {"customer_id": 1}, "request": {"basket_amount": 61.25}}).encode()
        asked = Request(f"{json.loads(text)['url']}/v1/predict/again", body, {"Content-Type": "application/json"})
        with urlopen(asked, timeout=30) as answer:
            assert json.load(answer)["predictions"] == pytest.approx([3.0, 3.0])
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=30) == 0


def test_a_port_that_is_taken_exits_with_2(cli: Cli, model: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        shown = cli("serve", "--port", str(taken.getsockname()[1]))
    assert shown.exit_code == 2
    assert shown.stdout == ""


def test_model_alone_shows_its_commands_and_is_wrong_usage(cli: Cli) -> None:
    shown = cli("model")
    assert shown.exit_code == 2
    assert "register" in shown.stdout
    assert cli("model", "nope").exit_code == 2
