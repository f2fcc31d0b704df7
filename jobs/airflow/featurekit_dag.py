"""featurekit by Airflow: refreshes each hour, a check and then a clean-up each day, as tasks that can be retried.

Copy it into the DAGs folder, and set PROJECT to where the project and its `.venv` lie. The views' own grids say what is
due: a run without anything due computes nothing. Whoever prefers one task takes `featurekit schedule --once`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

PROJECT = "/srv/featurekit"
COMMANDS = {
    "materialize": "featurekit materialize --wait",
    "check": "featurekit check --alert",
    "gc": "featurekit gc",
}
# featurekit knows itself what was missed: `featurekit materialize --from TIME` fills the history.
EVERY_RUN = {"start_date": datetime(2026, 1, 1, tzinfo=UTC), "catchup": False, "max_active_runs": 1}


def task(name: str, *, retries: int) -> BashOperator:
    return BashOperator(
        task_id=name,
        bash_command=f"cd {PROJECT} && .venv/bin/{COMMANDS[name]}",
        retries=retries,
        retry_delay=timedelta(minutes=5),
        execution_timeout=timedelta(hours=2),
    )


with DAG(dag_id="featurekit_refresh", schedule="15 * * * *", tags=["featurekit"], **EVERY_RUN) as refresh:
    task("materialize", retries=2)

with DAG(dag_id="featurekit_check", schedule="0 6 * * *", tags=["featurekit"], **EVERY_RUN) as check:
    # A check that fails has found something: to ask again is no answer.
    task("check", retries=0) >> task("gc", retries=2)
