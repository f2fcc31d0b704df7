"""What to do about each cause, in a sentence or two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from featurekit.consistency.diagnosis.causes import Cause

REMEDIES: Final[Mapping[Cause, str]] = {
    Cause.UNAVAILABLE: (
        "See that the store answers and holds the served refresh (`featurekit doctor`); materialize again if "
        "it is gone."
    ),
    Cause.BROKEN_ROW: "Find what else writes under the project's prefix; materialize the refresh again.",
    Cause.OTHER_VERSION: "A writer of another definition wrote into this key space: stop it, and materialize again.",
    Cause.STALE_ROW: (
        "An older run's row was put under this refresh: stop copies between key spaces, and materialize again."
    ),
    Cause.MISSING_ROW: "Look for a run that ended early, for eviction and for expiry; materialize the refresh again.",
    Cause.EXTRA_ROW: "Look for rows that were removed from the source or never in it; materialize the refresh again.",
    Cause.PREVIOUS_REFRESH: (
        "The refresh did not recompute these values: look at the run's input and caches, and materialize it again."
    ),
    Cause.LATER_REFRESH: (
        "The values know what came after the refresh: pin the run to its as-of, and materialize again."
    ),
    Cause.REQUEST_TIME: (
        "The values are as of the request, not of the refresh: training must take g(t), or the view a shorter refresh."
    ),
    Cause.WHOLE_DAY: "The values know the rest of the day: bound the computation by the as-of, not by the date.",
    Cause.BOUND_CLOSED: "Events at the very as-of were counted: use `<`, not `<=` (or `BETWEEN`), for the upper bound.",
    Cause.TIME_ZONE_SHIFT: (
        "One side reads clock times in another zone: declare the source's `timezone`, and run sessions in UTC."
    ),
    Cause.DST_SHIFT: (
        "A fixed offset was used where the zone changes its clock: convert by the zone's name, not by hours."
    ),
    Cause.LATE_ROWS_COUNTED: (
        "Rows that landed after the refresh were counted: filter by the created timestamp, or run at the promised time."
    ),
    Cause.LATE_ROWS_LOST: "Rows that landed late never counted: look back by landing time when only new rows are read.",
    Cause.DUPLICATE_EVENTS: (
        "Events were counted more than once: deduplicate by `event_id` before aggregating, and make retries idempotent."
    ),
    Cause.VERSIONS_COUNTED: "All versions of an event were counted: take the newest per `event_id` first.",
    Cause.TIE_ORDER: "Of events of one instant another came last: order by (event, created, columns), not by arrival.",
    Cause.EVENT_TIME_SHIFTED: (
        "Event times were read in another zone: declare the source's `timezone` where they are written."
    ),
    Cause.EVENT_TIME_DST: "Event times were converted by a fixed offset: convert by the zone's name.",
    Cause.TIME_UNIT: "Epoch times were read in another unit (s, ms, µs): convert them where the source is read.",
    Cause.OTHER_SNAPSHOT: "The pipeline read other files than were recorded: read the snapshot that the refresh names.",
    Cause.INPUT_NULL_ZERO: (
        "Nulls of the source became 0 before they were aggregated: leave them null, or declare it in the feature's SQL."
    ),
    Cause.INPUT_NULL_MEAN: (
        "Nulls of the source were filled with the mean before aggregating: take the fill out, or into the "
        "feature's SQL."
    ),
    Cause.INPUT_FLOAT32: "A column of the source went through float32: keep its type where the pipeline reads it.",
    Cause.INPUT_SCALED: "A column of the source came in another unit: convert it in one place, in the source.",
    Cause.INPUT_LOGARITHM: (
        "A logarithm was taken of a column of the source: take it in the feature's SQL, on both paths."
    ),
    Cause.INPUT_TRUNCATED: "A column of the source lost its fraction: keep its type where the pipeline reads it.",
    Cause.INPUT_TRIMMED: "Texts of the source were trimmed on one side: do it in the feature's SQL, or nowhere.",
    Cause.INPUT_LOWER_CASED: (
        "Texts of the source were lower-cased on one side: do it in the feature's SQL, or nowhere."
    ),
    Cause.INPUT_NORMALISED: "Texts of the source were normalised on one side: do it in the feature's SQL, or nowhere.",
    Cause.SOURCE_KEY_TRIMMED: (
        "Keys that differ in blanks became one entity: keep keys as they are, or clean them in the source."
    ),
    Cause.SOURCE_KEY_LOWER_CASED: (
        "Keys that differ in case became one entity: keep keys as they are, or clean them in the source."
    ),
    Cause.SOURCE_KEY_NORMALISED: (
        "Keys that differ in Unicode form became one entity: keep them, or clean them in the source."
    ),
    Cause.SOURCE_KEY_INT32: "Keys beyond 2^31 became another entity's: keep them 64 bits wide all the way.",
    Cause.TTL_IGNORED: "Expired values were kept: apply the view's `ttl` where the rows are written.",
    Cause.PREVIOUS_DEFINITION: (
        "An earlier definition computed the values: deploy the current one to the job, and materialize again."
    ),
    Cause.DEFAULT_LEFT_OUT: "The declared default was not applied: read through the lookup client, which applies it.",
    Cause.FILTER_DROPPED: "A filter of the definition was not applied: compute from the compiled SQL, not from a copy.",
    Cause.WINDOW_LENGTH: "The window had another length: compute from the compiled SQL, not from a copy.",
    Cause.WINDOW_START_CLOSED: "The far end of the window was another: a window is [as-of − length, as-of).",
    Cause.LOGARITHM_LEFT_OUT: (
        "The logarithm of the definition was not taken: compute from the compiled SQL, not from a copy."
    ),
    Cause.LOGARITHM_ADDED: (
        "A logarithm was taken that the definition does not have: put it into the definition, or take it out."
    ),
    Cause.COALESCE_DROPPED: (
        "A `coalesce` of the definition was not applied: compute from the compiled SQL, not from a copy."
    ),
    Cause.COUNTED_NULLS: "Rows with nulls were counted: `count(x)` leaves them out, `count(*)` does not.",
    Cause.NULLS_IN_AVERAGE: "Nulls were in the average's divisor: `avg(x)` divides by the rows that have a value.",
    Cause.SPREAD_DIVISOR: (
        "The spread was divided by the other of n and n − 1: `stddev_samp` is pandas' `std`, `stddev_pop` NumPy's."
    ),
    Cause.EXPRESSION_CHANGED: "The expression was another: compute from the compiled SQL, not from a copy.",
    Cause.OTHER_ENTITY: "Rows were joined to keys by position: join by key, and never sort one side alone.",
    Cause.NEXT_ENTITY: "Rows stand one place off their keys: join by key, not by position.",
    Cause.ONE_ROW_FOR_ALL: (
        "One row was written under many keys: look for a key that is bound once, outside of the loop."
    ),
    Cause.KEY_TRIMMED: "The key lost its blanks on the way: write and read keys as they are.",
    Cause.KEY_LOWER_CASED: "The key's case was folded on the way: write and read keys as they are.",
    Cause.KEY_UPPER_CASED: "The key's case was folded on the way: write and read keys as they are.",
    Cause.KEY_NORMALISED: "The key was normalised on the way: write and read keys as they are.",
    Cause.KEY_INT32: "The key went through 32 bits: keep it 64 bits wide all the way.",
    Cause.NULL_FILLED_WITH_DEFAULT: (
        "The pipeline writes the default itself: write NULL; lookups apply the default and say so."
    ),
    Cause.NULL_FILLED_WITH_ZERO: "The pipeline turns NULL into 0: take the `fillna(0)` out, or declare `default: 0`.",
    Cause.NULL_FILLED_WITH_EMPTY: (
        "The pipeline turns NULL into an empty text: take that out, or declare `default: ''`."
    ),
    Cause.NULL_FILLED_WITH_FALSE: "The pipeline turns NULL into false: take that out, or declare `default: false`.",
    Cause.NULL_FILLED_WITH_NAN: "The pipeline holds NULL as NaN (pandas does): write NULL.",
    Cause.NULL_FILLED_WITH_CODE: "A code stands for no value: write NULL, and reject the code by an expectation.",
    Cause.NULL_FILLED_WITH_MEAN: (
        "The pipeline fills with the mean: take that out, or do it in the model's own preprocessing on both paths."
    ),
    Cause.NULL_FILLED_WITH_MEDIAN: "The pipeline fills with the median: take that out, or do it on both paths.",
    Cause.NULL_FILLED_WITH_CONSTANT: (
        "One value stands where none is: take the fill out, or declare it as the feature's default."
    ),
    Cause.DEFAULT_MISSING: (
        "The declared default is not applied: read through the lookup client, with the current plan."
    ),
    Cause.OTHER_DEFAULT: (
        "Another default is applied than declared: read through the lookup client, with the current plan."
    ),
    Cause.STATUS_LOST: "NULL, MISSING and EXPIRED were taken for one another: pass the status on, not only the value.",
    Cause.NAN_AS_NULL: "NaN became NULL (pandas does that): NaN is a value.",
    Cause.EMPTY_AS_NULL: "An empty text became NULL: it is a value.",
    Cause.ZERO_AS_NULL: "0 became NULL: test for null, not for truth.",
    Cause.VALUE_AS_NULL: (
        "Values became NULL: look for a failed cast or call that gives no value, and materialize again."
    ),
    Cause.NEGATIVE_ZERO: "The sign of zero was lost on the way: a text or an integer stood in between.",
    Cause.FLOAT_NOISE: "The same numbers were added up in another order: declare `ulps` for the field, or sum exactly.",
    Cause.FLOAT32_ROUNDED: "The value went through float32: keep doubles, or declare the feature as float.",
    Cause.FLOAT16_ROUNDED: "The value went through float16: keep doubles, or declare what is served.",
    Cause.INTEGER_TRUNCATED: "The value went through an integer: keep its type.",
    Cause.FLOORED: "The value was rounded down: keep it, or round in the definition.",
    Cause.CEILED: "The value was rounded up: keep it, or round in the definition.",
    Cause.ROUNDED: "The value was rounded for display or transport: keep all of its digits.",
    Cause.SCALED: "The value is in another unit: convert it in one place.",
    Cause.RATIO: "The value is in another unit: convert it in one place.",
    Cause.OFFSET: (
        "A constant was added: look for a zone offset, an index that starts elsewhere, or a fixed correction."
    ),
    Cause.HOURS_OFF: "A timestamp was read in another zone: pass instants in UTC.",
    Cause.VALUE_TIME_UNIT: "A timestamp was read in another unit (s, ms, µs): convert it where it is written.",
    Cause.LOGARITHM_TAKEN: "A logarithm is taken that training does not take: take it in the definition, or nowhere.",
    Cause.LOGARITHM_UNDONE: (
        "Training takes a logarithm that serving forgets: take it in the definition, on both paths."
    ),
    Cause.SQUARED: "The value was squared: compare the two paths' last steps.",
    Cause.SQUARE_ROOT: (
        "A square root is taken on one side (variance and deviation?): compare the two paths' last steps."
    ),
    Cause.SIGN_FLIPPED: "The sign is the other one: look for a difference taken the other way round.",
    Cause.SIGN_DROPPED: "The sign was dropped: take the absolute value on both paths, or on neither.",
    Cause.INVERTED: "The flag says the opposite: look for a negation on one side.",
    Cause.INT32_WRAPPED: "The value went through 32 bits and wrapped: keep it 64 bits wide.",
    Cause.INT32_SATURATED: "The value went through 32 bits and was cut off: keep it 64 bits wide.",
    Cause.INT16_WRAPPED: "The value went through 16 bits and wrapped: keep its width.",
    Cause.INT16_SATURATED: "The value went through 16 bits and was cut off: keep its width.",
    Cause.CLIPPED: "Values beyond a bound were set to it: clip in the definition, on both paths, or nowhere.",
    Cause.TRIMMED: "Blanks were cut off: texts are compared as they are; trim in the definition or nowhere.",
    Cause.LOWER_CASED: "The text was lower-cased: do it in the definition, on both paths, or nowhere.",
    Cause.UPPER_CASED: "The text was upper-cased: do it in the definition, on both paths, or nowhere.",
    Cause.NORMALISED: "The text was normalised: do it in the definition, on both paths, or nowhere.",
    Cause.TEXT_CUT: "Texts are cut at a length: widen the column that they pass.",
    Cause.MOJIBAKE: "UTF-8 was read as Latin-1 (or the other way): declare the encoding where the text is read.",
    Cause.ANOTHER_FIELD: "Two fields are swapped: bind by name, not by position.",
    Cause.CONSTANT: (
        "One value is served for all: look for a failed call, a default in the wrong place, or a stuck job."
    ),
    Cause.ERROR_CODE: (
        "A code of a failed call is served as a value: write NULL, and reject the code by an expectation."
    ),
    Cause.UNKNOWN: "Follow one of the entities with `featurekit trace`, and compare the pipeline's steps with it.",
}
