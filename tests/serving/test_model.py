"""Predictions through a real store and a real runtime: what a model sees, and when it refuses to answer."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from featurekit.errors import FeaturesUnavailableError, KeyTypeError, ModelError, NotRegisteredError, RegistryError
from featurekit.online.client import FeatureClient
from featurekit.online.publish import PlanBody, publish_plans, withdraw_services
from featurekit.registry.model_record import ModelRecord
from featurekit.serving.model import ModelClient
from featurekit.serving.register import register_model
from featurekit.status import Status
from featurekit.types import Field, Float64, Schema
from tests.online.servers import NAMESPACE
from tests.serving.onnx_models import classifier, echo
from tests.serving.world import BIG, NOW, OUTPUTS, TODAY, Shop

WINDOW = ("sum(amount), window: 7d", "sum(amount), window: 8d")


def add_model(shop: Shop, *columns: str, kind: int = TensorProto.FLOAT) -> ModelClient:
    """Register the model `echo`, whose answer is what it sees, and return a client."""
    onnx = echo(shop.folder / "echo.onnx", len(columns), kind=kind)
    register_model(shop.registry, name="echo", onnx=onnx, service="score", now=NOW, columns=columns)
    return ModelClient(shop.client, shop.registry)


def bind(shop: Shop, service: str, *columns: str) -> None:
    """Register `echo` again, for another service."""
    onnx = echo(shop.folder / "echo.onnx", len(columns))
    register_model(shop.registry, name="echo", onnx=onnx, service=service, now=NOW, columns=columns)


def looking(shop: Shop) -> ModelClient:
    """A client that looks for newer versions at each request."""
    return ModelClient(shop.client, shop.registry, look_s=0.0)


def version_after_a_look(models: ModelClient) -> int:
    """Return the version that answers when the look that a request sets off is done."""
    models.load("echo")
    for thread in threading.enumerate():
        if thread.name == "newer models":
            thread.join()
    return models.predict("echo", {"user_id": 1}, {"price": 1.0}).version


def test_a_model_sees_its_columns_in_its_own_order(shop: Shop) -> None:
    models = add_model(shop, "basket.ratio", "spend.orders_7d", "spend.amount_7d")

    prediction = models.predict("echo", [{"user_id": 1}, {"user_id": BIG}], {"price": 5.0})

    assert prediction.values.tolist() == [[0.5, 2.0, 10.0], [10.0, 1.0, 0.5]]
    assert prediction.values.dtype == np.float32
    assert (prediction.model, prediction.version, prediction.provider) == ("echo", 1, "CPUExecutionProvider")
    assert prediction.as_of == {"spend": TODAY}


def test_a_model_of_doubles_sees_doubles(shop: Shop) -> None:
    models = add_model(shop, "spend.amount_7d", kind=TensorProto.DOUBLE)

    assert models.predict("echo", {"user_id": 1}, {"price": 1.0}).values.dtype == np.float64


def test_a_value_that_is_not_there_is_nan_and_keeps_its_status(shop: Shop) -> None:
    models = add_model(shop, "spend.amount_7d", "spend.orders_7d", "spend.last_items")

    prediction = models.predict("echo", [{"user_id": 2}, {"user_id": 99}], {"price": 1.0})

    nan = float("nan")
    assert np.array_equal(prediction.values, np.array([[nan, BIG, 4], [nan, 0, nan]], np.float32), equal_nan=True)
    known = [prediction.features.names.index(name) for name in OUTPUTS[:3]]
    assert prediction.statuses[:, known].tolist() == [
        [Status.NULL, Status.PRESENT, Status.PRESENT],
        [Status.NULL, Status.PRESENT, Status.MISSING],
    ]


def test_a_model_is_not_run_on_features_that_are_unavailable(shop: Shop) -> None:
    models = add_model(shop, "basket.ratio", "spend.orders_7d")

    with pytest.raises(FeaturesUnavailableError, match="of model echo are UNAVAILABLE for 2 of 2 rows") as caught:
        models.predict("echo", [{"user_id": 1}, {"user_id": 2}], {"price": 1.0}, at=TODAY)  # nothing is served yet

    assert caught.value.exit_code == 3
    assert caught.value.where == "basket.ratio, spend.orders_7d"
    assert str(caught.value.why).startswith("INPUT_UNAVAILABLE, NO_REFRESH: ")


def test_one_damaged_row_keeps_a_batch_from_being_scored(shop: Shop) -> None:
    models = add_model(shop, "spend.orders_7d")
    (row,) = [key for key in shop.store.find(b"") if b"{2}" in key]
    shop.store.write({row: b"damaged"})

    with pytest.raises(FeaturesUnavailableError, match="for 1 of 2 rows"):
        models.predict("echo", [{"user_id": 1}, {"user_id": 2}], {"price": 1.0})


def test_unavailable_features_that_a_model_does_not_take_are_nothing_to_it(shop: Shop) -> None:
    edit = ("features: [spend, basket]", "features: [spend, basket, clock]")
    view = "on_demand_feature_views:\n  clock: {request: {price: double}, features: {twice: {sql: price * 2}}}\n"
    shop.register(edit, ("on_demand_feature_views:\n", view))
    models = add_model(shop, "clock.twice")

    prediction = models.predict("echo", {"user_id": 1}, {"price": 1.0}, at=TODAY)

    assert prediction.to_python() == 2.0
    assert prediction.as_of == {"spend": None}


def test_a_caller_may_ask_for_nan_where_a_feature_is_unavailable(shop: Shop) -> None:
    models = add_model(shop, "spend.orders_7d")

    prediction = models.predict("echo", {"user_id": 1}, {"price": 1.0}, at=TODAY, on_unavailable="nan")

    assert np.isnan(prediction.values).all()
    assert prediction.as_of == {"spend": None}
    assert set(prediction.statuses.ravel().tolist()) == {Status.UNAVAILABLE}


def test_a_value_beyond_float32_is_infinity_without_a_warning(shop: Shop) -> None:
    shop.materialize([{"user_id": 1, "amount_7d": 1e300, "orders_7d": 1, "last_items": 1}])

    assert np.isposinf(add_model(shop, "spend.amount_7d").predict("echo", {"user_id": 1}, {"price": 1.0}).values)


def test_answers_come_in_the_shape_of_the_question(shop: Shop) -> None:
    models = add_model(shop, "spend.orders_7d")
    wide = classifier(shop.folder / "wide.onnx", 4)
    register_model(shop.registry, name="wide", onnx=wide, service="score", now=NOW)

    def ask(model: str, entities: Any) -> Any:
        return models.predict(model, entities, {"price": 1.0} if entities else None).to_python()

    assert ask("echo", {"user_id": 1}) == 2.0
    assert ask("echo", [{"user_id": 1}]) == [2.0]
    assert ask("echo", []) == []
    assert np.shape(ask("wide", {"user_id": 1})) == (4,)
    assert np.shape(ask("wide", [{"user_id": 1}, {"user_id": 2}])) == (2, 4)


def test_a_model_stays_on_the_version_it_was_registered_for_whichever_serves(shop: Shop) -> None:
    models = add_model(shop, "spend.orders_7d")
    before = models.predict("echo", {"user_id": 1}, {"price": 1.0})
    shop.register(WINDOW)
    shop.materialize([{"user_id": 1, "amount_7d": 0.0, "orders_7d": 77, "last_items": 0}])

    after = models.predict("echo", {"user_id": 1}, {"price": 1.0})

    assert (before.to_python(), after.to_python()) == (2.0, 2.0)
    assert after.features.fingerprint == before.features.fingerprint
    assert shop.client.lookup("score", {"user_id": 1}, {"price": 1.0}).to_dict()["spend.orders_7d"] == 77


def test_a_newer_version_of_a_model_takes_over_when_readers_get_what_it_takes(shop: Shop) -> None:
    add_model(shop, "spend.orders_7d")
    models = looking(shop)
    models.predict("echo", {"user_id": 1}, {"price": 1.0})
    shop.register(WINDOW)
    add_model(shop, "spend.last_items")

    assert version_after_a_look(models) == 1  # its features are not there yet
    shop.materialize()

    assert version_after_a_look(models) == 2
    assert models.predict("echo", {"user_id": 1}, {"price": 1.0}).to_python() == 3.0


def test_a_newer_version_of_a_model_for_the_same_features_takes_over(shop: Shop) -> None:
    add_model(shop, "spend.orders_7d")
    models = looking(shop)
    models.predict("echo", {"user_id": 1}, {"price": 1.0})
    add_model(shop, "spend.last_items")

    assert version_after_a_look(models) == 2


def test_a_service_that_was_withdrawn_ends_no_look_for_newer_versions(shop: Shop) -> None:
    add_model(shop, "spend.orders_7d")
    models = looking(shop)
    models.predict("echo", {"user_id": 1}, {"price": 1.0})
    shop.register(WINDOW)
    add_model(shop, "spend.last_items")
    withdraw_services(shop.store, NAMESPACE, ["score"])

    assert version_after_a_look(models) == 1


def test_a_model_that_was_deleted_is_answered_by_no_more(shop: Shop) -> None:
    add_model(shop, "spend.orders_7d")
    models = looking(shop)
    record = models.load("echo").record
    shop.registry.delete_model(record, NOW)

    with pytest.raises(NotRegisteredError, match="there is no model 'echo'"):
        version_after_a_look(models)
    assert not shop.registry.model_path(record).exists()


def test_a_model_that_moved_to_another_service_answers_by_that_without_a_new_client(shop: Shop) -> None:
    models = add_model(shop, "spend.orders_7d")
    assert models.predict("echo", {"user_id": 1}, {"price": 1.0}).to_python() == 2.0
    bind(shop, "spend", "spend.last_items")

    still = models.predict("echo", {"user_id": 1}, {"price": 1.0})  # what it was loaded for is served as it was
    moved = models.predict("echo", {"user_id": 1})  # and this is a question for the other service

    assert (still.version, still.features.service) == (1, "score")
    assert (moved.version, moved.features.service, moved.to_python()) == (2, "spend", 3.0)


def test_a_version_that_does_not_fit_leaves_the_loaded_one_in_place(shop: Shop) -> None:
    models = add_model(shop, "spend.orders_7d")
    models.predict("echo", {"user_id": 1}, {"price": 1.0})
    shop.register(WINDOW)
    add_model(shop, "spend.last_items")

    with pytest.raises(KeyTypeError):
        models.predict("echo", {"user": 1}, {"price": 1.0})

    assert models.predict("echo", {"user_id": 1}, {"price": 1.0}).version == 1


def test_a_wrong_question_is_the_callers_mistake_also_where_the_registry_is_away(shop: Shop) -> None:
    models = ModelClient(shop.client, shop.registry)
    add_model(shop, "spend.orders_7d")
    models.load("echo")
    database = shop.folder / "registry.db"
    database.write_bytes(b"no database" * 100)

    with pytest.raises(KeyTypeError):
        models.predict("echo", {"user": 1}, {"price": 1.0})


def test_a_model_for_definitions_without_values_yet_has_no_features(shop: Shop) -> None:
    shop.register(WINDOW)
    models = add_model(shop, "spend.orders_7d")

    with pytest.raises(FeaturesUnavailableError, match="NO_REFRESH") as caught:
        models.predict("echo", {"user_id": 1}, {"price": 1.0})

    assert "materialize" in str(caught.value.try_)


def test_a_model_is_not_run_on_features_of_another_meaning(shop: Shop) -> None:
    models = add_model(shop, "spend.orders_7d")
    pointer, pinned = NAMESPACE.pointer("spend"), NAMESPACE.pointer("score@1")
    (other,) = shop.store.read([pointer])
    assert other is not None
    plan = FeatureClient(shop.url, project=NAMESPACE.project, environment=NAMESPACE.environment).plan("spend")
    body = PlanBody.of(replace(plan, service="score", request=Schema((Field("price", Float64()),))))
    publish_plans(shop.store, NAMESPACE, [body])
    shop.store.write({pinned: body.pointer})

    with pytest.raises(ModelError, match="is not for what lookups of score@1 give"):
        models.predict("echo", {"user_id": 1}, {"price": 1.0})


def test_threads_that_ask_first_at_once_load_a_model_once(shop: Shop) -> None:
    models = add_model(shop, "spend.orders_7d")

    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(models.load, ["echo"] * 32))

    assert len(set(map(id, loaded))) == 1


def test_a_model_nobody_registered_is_not_there(shop: Shop) -> None:
    with pytest.raises(NotRegisteredError, match="there is no model 'delay'"):
        ModelClient(shop.client, shop.registry).predict("delay", {"user_id": 1})


def test_a_key_of_the_wrong_type_is_refused_before_the_model_runs(shop: Shop) -> None:
    with pytest.raises(KeyTypeError):
        add_model(shop, "spend.orders_7d").predict("echo", {"user_id": "1"}, {"price": 1.0})


def test_a_file_that_changed_under_the_registry_is_not_run(shop: Shop) -> None:
    models = add_model(shop, "spend.orders_7d")
    path = shop.registry.model_path(shop.registry.model("echo"))
    path.write_bytes(classifier(shop.folder / "other.onnx", 1).read_bytes())

    with pytest.raises(ModelError, match="is not the one that was registered"):
        models.load("echo")


def test_a_file_that_changed_is_mended_by_registering_it_again(shop: Shop) -> None:
    models = add_model(shop, "spend.orders_7d")
    shop.registry.model_path(shop.registry.model("echo")).write_bytes(b"cut short")

    add_model(shop, "spend.orders_7d")

    assert models.predict("echo", {"user_id": 1}, {"price": 1.0}).to_python() == 2.0


def test_a_file_that_is_gone_is_an_error_of_the_registry(shop: Shop) -> None:
    models = add_model(shop, "spend.orders_7d")
    shop.registry.model_path(shop.registry.model("echo")).unlink()

    with pytest.raises(RegistryError, match="the file of model echo v1 can't be read"):
        models.load("echo")


@dataclass(frozen=True)
class OneModel:
    """A source of models that is no registry: a record and a file are all that serving needs."""

    record: ModelRecord
    path: Path

    def model(self, _name: str, _version: int | None = None) -> ModelRecord:
        return self.record

    def model_path(self, _record: ModelRecord) -> Path:
        return self.path


def test_a_record_and_a_file_are_enough_to_predict(shop: Shop) -> None:
    add_model(shop, "spend.orders_7d")
    record = replace(shop.registry.model("echo"), name="alone")

    models = ModelClient(shop.client, OneModel(record, shop.folder / "echo.onnx"))

    assert models.predict("alone", {"user_id": 1}, {"price": 1.0}).to_python() == 2.0
