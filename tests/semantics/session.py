"""The Spark session that the oracle runs in: quick to start, silent, UTC."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from typing import Any

CONFIG = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "2g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def start() -> Any:
    """Return a local session; the one that runs already where there is one."""
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # a page of JSON for every error we ask for
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark 4.3 warns about pandas 3, which nothing here uses
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]")
        for key, value in CONFIG.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return session


def frame(spark: Any, table: Any) -> Any:
    """Return an Arrow table as a data frame; a time without zone stays one, which createDataFrame makes an instant."""
    found = spark.createDataFrame(table)
    readings = [field.name for field in table.schema if str(field.type) == "timestamp[us]"]
    return found.withColumns({name: found[name].cast("timestamp_ntz") for name in readings}) if readings else found
