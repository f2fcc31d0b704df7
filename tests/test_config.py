"""Settings: what overrides what, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from featurekit.clock import DAY, parse_instant
from featurekit.config import Settings, read_settings
from featurekit.errors import SettingsError


def _read(tmp_path: Path, text: str = "", environ: dict[str, str] | None = None, **flags: Any) -> Settings:
    (tmp_path / "featurekit.toml").write_text(text)
    return read_settings(start=tmp_path, environ=environ or {}, flags=flags)


def test_defaults_need_no_file(tmp_path: Path) -> None:
    settings = read_settings(start=tmp_path, environ={})
    assert settings.redis_url is None
    assert settings.registry == f"sqlite:///{tmp_path}/.featurekit/registry.db"


def test_a_flag_overrides_the_environment_and_that_the_file(tmp_path: Path) -> None:
    text = 'project = "file"\nenvironment = "file"\n[redis]\ntimeout_ms = 5\n'
    environ = {"FEATUREKIT_ENVIRONMENT": "variable", "FEATUREKIT_PROJECT": "variable"}
    settings = _read(tmp_path, text, environ, project="flag", environment=None)
    assert (settings.project, settings.environment, settings.redis_timeout_ms) == ("flag", "variable", 5)


def test_paths_are_relative_to_the_file_that_is_found_upwards(tmp_path: Path) -> None:
    (tmp_path / "featurekit.toml").write_text('definitions = "defs"\n')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    settings = read_settings(start=below, environ={})
    assert settings.definitions == tmp_path / "defs"
    assert settings.state == tmp_path / ".featurekit"


def test_durations_and_the_clock_are_typed(tmp_path: Path) -> None:
    settings = _read(tmp_path, '[redis]\nretention = "2d"\n', {"FEATUREKIT_NOW": "2013-11-15T02:00Z"})
    assert settings.retention == 2 * DAY
    assert settings.clock() == parse_instant("2013-11-15T02:00Z")


def test_spark_settings_pass_through_as_text(tmp_path: Path) -> None:
    settings = _read(tmp_path, '[spark]\nmaster = "local[2]"\n[spark.conf]\n"spark.ui.enabled" = false\n')
    assert settings.spark_master == "local[2]"
    assert settings.spark_conf == (("spark.ui.enabled", "false"),)


def test_a_secret_comes_from_a_file_and_is_not_shown(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("redis://:hunter2@host:6379\n")
    settings = _read(tmp_path, "", {"FEATUREKIT_REDIS_URL_FILE": str(secret)})
    assert settings.redis_url == "redis://:hunter2@host:6379"
    assert "hunter2" not in repr(settings)


def test_a_user_and_a_password_go_into_the_url_and_are_not_shown(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter/2@\n")
    toml = '[redis]\nurl = "redis+cluster://a:1,b:2"\nuser = "serving"\n'
    settings = _read(tmp_path, toml, {"FEATUREKIT_REDIS_PASSWORD_FILE": str(secret)})
    assert settings.redis_url == "redis+cluster://serving:hunter%2F2%40@a:1,b:2"
    assert "hunter" not in repr(settings)
    assert settings.redis_password is None


@pytest.mark.parametrize(
    ("url", "why"), [(None, "no redis.url"), ("redis://job:hunter2@cache", "names a user already"), ("cache", "no URL")]
)
def test_a_password_without_a_place_for_it_is_a_mistake(tmp_path: Path, url: str | None, why: str) -> None:
    environ = {"FEATUREKIT_REDIS_PASSWORD": "hunter3", **({} if url is None else {"FEATUREKIT_REDIS_URL": url})}
    with pytest.raises(SettingsError) as caught:
        _read(tmp_path, "", environ)
    assert why in str(caught.value.why)
    assert "hunter" not in f"{caught.value} {caught.value!r}"


@pytest.mark.parametrize("name", ["USER", "PASSWORD"])
def test_an_empty_user_or_password_is_a_mistake(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="it is empty"):
        _read(tmp_path, "", {"FEATUREKIT_REDIS_URL": "redis://cache", f"FEATUREKIT_REDIS_{name}": " "})


@pytest.mark.parametrize("key", ["redis", "registry"])
def test_an_empty_url_is_a_mistake_and_not_the_embedded_service(tmp_path: Path, key: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("\n")
    name = f"FEATUREKIT_{key.upper()}_URL"
    ways: tuple[tuple[str, dict[str, str], dict[str, str]], ...] = (
        (f'[{key}]\nurl = ""\n', {}, {}),
        ("", {name: ""}, {}),
        ("", {name: " "}, {}),
        ("", {f"{name}_FILE": str(secret)}, {}),
        ("", {}, {f"{key}_url": ""}),
    )
    for text, environ, flags in ways:
        with pytest.raises(SettingsError, match="is empty") as caught:
            _read(tmp_path, text, environ, **flags)
        assert "embedded" in str(caught.value.try_)


def test_a_url_of_another_type_is_refused_unseen(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="can't be a list") as caught:
        _read(tmp_path, "[redis]\nurl = ['redis://:hunter2@cache']\n")
    assert "hunter2" not in str(caught.value)


def test_what_spark_is_told_is_not_shown_either(tmp_path: Path) -> None:
    text = (
        '[spark]\nmaster = "sc://host:443/;token=hunter2"\n[spark.conf]\n"spark.hadoop.fs.s3a.secret.key" = "hunter2"\n'
    )

    assert "hunter2" not in repr(_read(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("projct = 'a'", "unknown setting 'projct'"),
        ("project = ", "not TOML"),
        ("project = 'a b'", "not a name"),
        ("project = 3", "can't be 3"),
        ("[redis]\ntimeout_ms = 0", "can't be 0"),
        ("[redis]\ntimeout_ms = true", "can't be True"),
        ("[redis]\ntries = 0", "can't be 0"),
        ("[redis]\nbreaker_open_ms = false", "can't be False"),
        ("[redis]\nretention = '7 days'", "not a duration"),
        ("now = '2013-11-15T02:00'", "no zone"),
        ("[served_log]\nsample = 10", "10.0 is not a share"),  # no percentage: case 54
        ("[served_log]\nsample = 0", "0.0 is not a share"),
        ("[served_log]\nsample = true", "can't be True"),
        ("[served_log]\nqueue = 0", "can't be 0"),
        ("[served_log]\nrotate = '0s'", "can't be '0s'"),
    ],
)
def test_a_wrong_setting_is_refused(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(SettingsError, match=what):
        _read(tmp_path, text)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("history.keep", "ninety"),
        ("redis.retention", "7 days"),
        ("served_log.sample", "10"),
        ("served_log.rotate", "0s"),
        ("served_log.queue", "0"),
        ("redis.timeout_ms", "soon"),
    ],
)
def test_a_wrong_setting_is_told_by_its_name_and_who_gave_it(tmp_path: Path, setting: str, value: str) -> None:
    table, _, key = setting.partition(".")
    variable = f"FEATUREKIT_{table}_{key}".upper()
    for text, environ, where in (
        (f'[{table}]\n{key} = "{value}"', {}, str(tmp_path / "featurekit.toml")),
        ("", {variable: value}, variable),
    ):
        with pytest.raises(SettingsError, match=f"setting '{setting}'") as refused:
            _read(tmp_path, text, environ)
        assert refused.value.where == where
    with pytest.raises(SettingsError, match="setting 'now'") as refused:
        _read(tmp_path, now="soon")
    assert refused.value.where == "--now"


def test_a_close_name_is_suggested(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        _read(tmp_path, "[redis]\ntimeout = 3")
    assert caught.value.try_ == "'redis.timeout_ms'"


def test_a_settings_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no settings file"):
        read_settings(start=tmp_path, environ={}, file=tmp_path / "other.toml")


def test_the_served_log_lies_where_the_settings_file_says(tmp_path: Path) -> None:
    settings = _read(tmp_path, "[served_log]\npath = 'served'\nsample = 0.1\nrotate = '1m'\nqueue = 5\n", {})
    assert settings.served_log == tmp_path.resolve() / "served"
    assert (settings.served_log_sample, settings.served_log_rotate, settings.served_log_queue) == (0.1, 60_000_000, 5)
    assert _read(tmp_path, "", {"FEATUREKIT_SERVED_LOG_SAMPLE": "0.5"}).served_log_sample == 0.5
    assert _read(tmp_path, "", {}).served_log is None


def test_keys_of_the_server_come_from_a_file_and_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("app=a-key-that-is-long-enough\n")

    settings = _read(tmp_path, "", {"FEATUREKIT_SERVE_API_KEYS_FILE": str(tmp_path / "keys")})

    assert settings.serve_api_keys == "app=a-key-that-is-long-enough"
    assert "long-enough" not in repr(settings)


def test_keys_that_are_empty_let_nobody_in_and_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="it is empty"):
        _read(tmp_path, "", {"FEATUREKIT_SERVE_API_KEYS": " "})


def test_secrets_of_alerts_are_refused_in_the_settings_file_and_shown_nowhere(tmp_path: Path) -> None:
    for key in ("webhook_secret", "slack_url", "smtp_password"):
        with pytest.raises(SettingsError, match="is a secret") as refused:
            _read(tmp_path, f"[alerts]\n{key} = 'hunter2'")
        assert "hunter2" not in str(refused.value)
        assert f"FEATUREKIT_ALERTS_{key.upper()}_FILE" in str(refused.value)
        (tmp_path / "secret").write_text("hunter2\n")
        settings = _read(tmp_path, "", {f"FEATUREKIT_ALERTS_{key.upper()}_FILE": str(tmp_path / "secret")})
        assert getattr(settings, f"alerts_{key}") == "hunter2"
        assert "hunter2" not in repr(settings)
        with pytest.raises(SettingsError, match="it is empty"):
            _read(tmp_path, "", {f"FEATUREKIT_ALERTS_{key.upper()}": " "})


def test_times_of_the_day_are_hours_and_minutes(tmp_path: Path) -> None:
    assert _read(tmp_path, "[schedule]\ncheck_at = '23:59'").schedule_check_at == DAY - 60_000_000
    for wrong in ("24:00", "6:00", "06:60", "06:00Z"):
        with pytest.raises(SettingsError, match="no time of the day"):
            _read(tmp_path, f"[schedule]\ngc_at = '{wrong}'")
