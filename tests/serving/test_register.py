"""Registering models: what fits its service is kept, what doesn't is refused with the reason, and leaves nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from onnx import TensorProto, helper

from featurekit.errors import ModelError, NotRegisteredError
from featurekit.plan import LookupPlan, encode_plan
from featurekit.registry.model_record import ModelRecord
from featurekit.registry.registry import Registry
from featurekit.registry.state import Registration, RegistrationStatus
from featurekit.serving.register import register_model
from featurekit.types import Boolean, DataType, Decimal, Field, Float64, Int64, Schema, String, Timestamp
from tests.registry.states import NOW, service
from tests.serving.onnx_models import classifier, echo, save, tensor

NUMBERS: dict[str, DataType] = {
    "spend.amount": Float64(),
    "spend.orders": Int64(),
    "spend.price": Decimal(10, 2),
    "spend.is_new": Boolean(),
}
MIXED: dict[str, DataType] = {**NUMBERS, "spend.shop": String(), "spend.last_at": Timestamp()}


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """Holds the service `numbers` of four numbers and `mixed` that also has a string and a timestamp."""
    registry = Registry(
        f"sqlite:///{tmp_path / 'registry.db'}", project="shop", environment="dev", models=tmp_path / "models"
    )
    with registry.writing() as writer:
        writer.add_registration(Registration(id=1, at=NOW, changes=(), services=(), status=RegistrationStatus.SWITCHED))
        for name, outputs in (("numbers", NUMBERS), ("mixed", MIXED)):
            plan = LookupPlan(
                service=name,
                fingerprint=f"{name}()",
                views=(),
                request=Schema(()),
                on_demand=(),
                outputs=tuple(Field(output, kind) for output, kind in outputs.items()),
            )
            writer.add_version(service(name, plan=encode_plan(plan)), number=1, registration=1, at=NOW)
    return registry


def register(
    registry: Registry,
    onnx: Path,
    service: str = "numbers",
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    output: str | None = None,
) -> ModelRecord:
    return register_model(
        registry,
        name="delay",
        onnx=onnx,
        service=service,
        now=NOW,
        columns=columns,
        exclude=exclude,
        output=output,
    )


def refusal(
    registry: Registry,
    onnx: Path,
    service: str = "numbers",
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    output: str | None = None,
) -> ModelError:
    """Return the error of a refused model, after checking that it has all its parts and left nothing behind."""
    with pytest.raises(ModelError) as caught:
        register(registry, onnx, service, columns=columns, exclude=exclude, output=output)
    assert caught.value.exit_code == 2
    assert caught.value.where == str(onnx)
    assert caught.value.try_
    assert registry.models() == ()
    assert list(registry.models_folder.glob("*")) == []
    return caught.value


def test_a_model_is_bound_to_the_outputs_of_its_service_in_their_order(registry: Registry, tmp_path: Path) -> None:
    onnx = echo(tmp_path / "m.onnx", 4)

    record = register(registry, onnx)

    sha256 = hashlib.sha256(onnx.read_bytes()).hexdigest()
    assert record == ModelRecord(
        name="delay",
        version=1,
        service="numbers",
        service_fingerprint="numbers()",
        sha256=sha256,
        file=f"{sha256}.onnx",
        columns=tuple(NUMBERS),
        dtype="float32",
        input="features",
        output="answer",
        registered_at=NOW,
        service_number=1,
    )
    assert registry.model("delay") == record
    assert registry.model_path(record).read_bytes() == onnx.read_bytes()


def test_a_model_of_doubles_is_handed_doubles(registry: Registry, tmp_path: Path) -> None:
    assert register(registry, echo(tmp_path / "m.onnx", 4, kind=TensorProto.DOUBLE)).dtype == "float64"


def test_columns_are_taken_as_given(registry: Registry, tmp_path: Path) -> None:
    columns = ("spend.orders", "spend.amount")

    assert register(registry, echo(tmp_path / "m.onnx", 2), "mixed", columns=columns).columns == columns


def test_columns_are_those_that_the_file_lists(registry: Registry, tmp_path: Path) -> None:
    columns = ("spend.is_new", "spend.price")

    assert register(registry, echo(tmp_path / "m.onnx", 2, columns=columns), "mixed").columns == columns


def test_a_model_of_any_width_takes_what_is_left_after_exclusions(registry: Registry, tmp_path: Path) -> None:
    onnx = echo(tmp_path / "m.onnx", "width")

    assert register(registry, onnx, "mixed", exclude=["spend.shop", "spend.last_at"]).columns == tuple(NUMBERS)


def test_a_feature_that_is_no_number_is_refused_until_it_is_left_out_by_name(
    registry: Registry, tmp_path: Path
) -> None:
    error = refusal(registry, echo(tmp_path / "m.onnx", 4), "mixed")

    assert error.what == "feature spend.shop is a string"
    assert error.try_ == ("leave it out by name (--exclude spend.shop), or declare a feature that makes a number of it")


def test_columns_that_are_given_must_be_those_that_the_file_lists(registry: Registry, tmp_path: Path) -> None:
    onnx = echo(tmp_path / "m.onnx", 2, columns=["spend.amount", "spend.orders"])

    error = refusal(registry, onnx, columns=["spend.orders", "spend.amount"])

    assert error.what == "the columns given are not those that the model's file lists"


@pytest.mark.parametrize("names", [{"columns": ["spend.amuont"]}, {"exclude": ["spend.amuont"]}])
def test_a_feature_that_the_service_has_not_is_refused_with_the_nearest_name(
    registry: Registry, tmp_path: Path, names: dict[str, list[str]]
) -> None:
    error = refusal(
        registry, echo(tmp_path / "m.onnx", 1), columns=names.get("columns"), exclude=names.get("exclude", ())
    )

    assert (error.what, error.try_) == ("service 'numbers' has no feature 'spend.amuont'", "'spend.amount'")


def test_a_feature_that_is_named_twice_is_refused(registry: Registry, tmp_path: Path) -> None:
    error = refusal(registry, echo(tmp_path / "m.onnx", 2), columns=["spend.amount", "spend.amount"])

    assert error.what == "a column is named twice"


def test_a_model_of_another_width_is_refused(registry: Registry, tmp_path: Path) -> None:
    assert refusal(registry, echo(tmp_path / "m.onnx", 3)).what == "the model takes 3 columns, and 4 were chosen"


def test_a_width_that_only_running_finds_out_is_refused(registry: Registry, tmp_path: Path) -> None:
    weights = helper.make_tensor("weights", TensorProto.FLOAT, [3, 1], [1.0, 1.0, 1.0])
    nodes = [
        helper.make_node("Constant", [], ["weights"], value=weights),
        helper.make_node("MatMul", ["features", "weights"], ["answer"]),
    ]
    onnx = save(tmp_path / "m.onnx", nodes, [tensor("features", ["rows", "width"])], [tensor("answer", ["rows", 1])])

    assert refusal(registry, onnx).what == "the model can't run on 4 columns of NaN"


def test_a_model_of_one_row_at_a_time_is_refused(registry: Registry, tmp_path: Path) -> None:
    node = helper.make_node("Identity", ["features"], ["answer"])
    onnx = save(tmp_path / "m.onnx", [node], [tensor("features", [1, 4])], [tensor("answer", [1, 4])])

    assert refusal(registry, onnx).what == "the model's input 'features' has shape [1, 4]"


def test_a_model_of_integers_is_refused_because_null_is_none(registry: Registry, tmp_path: Path) -> None:
    error = refusal(registry, echo(tmp_path / "m.onnx", 4, kind=TensorProto.INT64))

    assert error.what == "the model's input 'features' is tensor(int64)"
    assert error.why == "a feature can be NULL, and only a tensor of floats can say so, as NaN"


def test_a_model_of_two_inputs_is_refused(registry: Registry, tmp_path: Path) -> None:
    node = helper.make_node("Add", ["left", "right"], ["answer"])
    inputs = [tensor("left", ["rows", 2]), tensor("right", ["rows", 2])]
    onnx = save(tmp_path / "m.onnx", [node], inputs, [tensor("answer", ["rows", 2])])

    assert refusal(registry, onnx).what == "the model has 2 inputs, not one"


def test_a_classifier_answers_with_its_probabilities(registry: Registry, tmp_path: Path) -> None:
    assert register(registry, classifier(tmp_path / "m.onnx", 4)).output == "scores_0"


def test_a_model_with_several_outputs_is_refused_until_one_is_named(registry: Registry, tmp_path: Path) -> None:
    onnx = classifier(tmp_path / "m.onnx", 4, floats=2)

    assert refusal(registry, onnx).what == "the model has 3 outputs, and it is not plain which to answer with"
    assert refusal(registry, onnx, output="score").what == "the model has no output 'score'"
    assert register(registry, onnx, output="label").output == "label"


def test_an_output_that_is_no_tensor_is_refused(registry: Registry, tmp_path: Path) -> None:
    # What converters make of a classifier when nobody turns zipmap off.
    nodes = [
        helper.make_node("Softmax", ["features"], ["scores"]),
        helper.make_node("ZipMap", ["scores"], ["maps"], domain="ai.onnx.ml", classlabels_int64s=[0, 1, 2, 3]),
    ]
    kind = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    maps = helper.make_value_info("maps", helper.make_sequence_type_proto(kind))
    onnx = save(tmp_path / "m.onnx", nodes, [tensor("features", ["rows", 4])], [maps])

    assert refusal(registry, onnx, output="maps").what == ("the model's output 'maps' is seq(map(int64,tensor(float)))")


def test_an_output_without_a_row_for_each_row_is_refused(registry: Registry, tmp_path: Path) -> None:
    node = helper.make_node("ReduceMean", ["features"], ["answer"], axes=[0], keepdims=1)
    onnx = save(tmp_path / "m.onnx", [node], [tensor("features", ["rows", 4])], [tensor("answer", [1, 4])])

    assert refusal(registry, onnx).what == "the model's output 'answer' has shape [1, 4] for 2 rows"


@pytest.mark.parametrize("text", ["not json", '{"a": 1}', "[1, 2]"])
def test_metadata_that_is_no_list_of_names_is_refused(registry: Registry, tmp_path: Path, text: str) -> None:
    node = helper.make_node("Identity", ["features"], ["answer"])
    onnx = save(
        tmp_path / "m.onnx", [node], [tensor("features", ["rows", 4])], [tensor("answer", ["rows", 4])], columns=text
    )

    assert refusal(registry, onnx).what == "the model's metadata 'feature_columns' is no JSON list of names"


def test_a_file_that_is_no_model_is_refused(registry: Registry, tmp_path: Path) -> None:
    onnx = tmp_path / "m.onnx"
    onnx.write_bytes(b"hello")

    error = refusal(registry, onnx)

    assert error.what == "m.onnx is not a model that ONNX Runtime can load"
    assert ".draft" not in str(error)


def test_a_service_nobody_registered_has_no_models(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(NotRegisteredError, match="service 'nobody' is not registered"):
        register(registry, echo(tmp_path / "m.onnx", 4), "nobody")


def test_a_name_that_is_no_path_segment_is_refused(registry: Registry, tmp_path: Path) -> None:
    onnx = echo(tmp_path / "m.onnx", 4)

    with pytest.raises(ModelError, match="can't be a model's name"):
        register_model(registry, name="a/b", onnx=onnx, service="numbers", now=NOW)
