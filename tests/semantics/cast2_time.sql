-- Recorded by `python -m tests.semantics.record` from Spark 4.3.0, JDK 17, ANSI true, session zone UTC.
-- Columns are those of tests/semantics/edges.py; their cases have one value for each of its rows.
-- text to dates: a year of four to seven digits, then month and day of one or two; what follows the day is passed over
try_cast('2024' AS DATE)                                      date            2024-01-01
try_cast('2024-1' AS DATE)                                    date            2024-01-01
try_cast('2024-01-05' AS DATE)                                date            2024-01-05
try_cast('2024-1-5' AS DATE)                                  date            2024-01-05
try_cast(' 2024-02-29\n' AS DATE)                             date            2024-02-29
try_cast('2023-02-29' AS DATE)                                date            NULL
try_cast('2024-13-01' AS DATE)                                date            NULL
try_cast('2024-00-01' AS DATE)                                date            NULL
try_cast('2024-01-00' AS DATE)                                date            NULL
try_cast('2024-04-31' AS DATE)                                date            NULL
try_cast('0000-01-01' AS DATE)                                date            day -719528
try_cast('-0001-12-31' AS DATE)                               date            day -719529
try_cast('+2024-01-01' AS DATE)                               date            2024-01-01
try_cast('+12345-01-01' AS DATE)                              date            day 3789391
try_cast('-12345-1-1' AS DATE)                                date            day -5228446
try_cast('9999-12-31' AS DATE)                                date            9999-12-31
try_cast('10000-01-01' AS DATE)                               date            day 2932897
try_cast('123456-01-01' AS DATE)                              date            day 44371850
try_cast('1234567-01-01' AS DATE)                             date            day 450196810
try_cast('5881580-07-11' AS DATE)                             date            day 2147483647
try_cast('5881580-07-12' AS DATE)                             date            NULL
try_cast('-5877641-06-23' AS DATE)                            date            day -2147483648
try_cast('-5877641-06-22' AS DATE)                            date            NULL
try_cast('12345678-01-01' AS DATE)                            date            NULL
try_cast('999-01-01' AS DATE)                                 date            NULL
try_cast('2024-001-01' AS DATE)                               date            NULL
try_cast('2024-1-001' AS DATE)                                date            NULL
try_cast('2024-01-05T' AS DATE)                               date            2024-01-05
try_cast('2024-01-05Tgarbage' AS DATE)                        date            2024-01-05
try_cast('2024-01-05 x' AS DATE)                              date            2024-01-05
try_cast('2024-01-05x' AS DATE)                               date            NULL
try_cast('2024-01 x' AS DATE)                                 date            NULL
try_cast('2024-' AS DATE)                                     date            NULL
try_cast('2024 01 01' AS DATE)                                date            NULL
try_cast('2024/01/01' AS DATE)                                date            NULL
try_cast('20240105' AS DATE)                                  date            NULL
try_cast('T' AS DATE)                                         date            NULL
try_cast('' AS DATE)                                          date            NULL
try_cast('-' AS DATE)                                         date            NULL
try_cast('\u0662024-01-05' AS DATE)                           date            NULL
try_cast('2024-01-05\u00A0' AS DATE)                          date            NULL
try_cast('2024-01-05 \u00A0' AS DATE)                         date            2024-01-05

-- text to timestamps: the clock's parts of one or two digits; a zone only after the seconds; without one it is UTC
try_cast('2024' AS TIMESTAMP)                                 timestamp       2024-01-01T00:00:00Z
try_cast('2024-1' AS TIMESTAMP)                               timestamp       2024-01-01T00:00:00Z
try_cast('2024-01-05' AS TIMESTAMP)                           timestamp       2024-01-05T00:00:00Z
try_cast('2024-1-5' AS TIMESTAMP)                             timestamp       2024-01-05T00:00:00Z
try_cast(' 2024-02-29\n' AS TIMESTAMP)                        timestamp       2024-02-29T00:00:00Z
try_cast('2023-02-29' AS TIMESTAMP)                           timestamp       NULL
try_cast('2024-13-01' AS TIMESTAMP)                           timestamp       NULL
try_cast('2024-00-01' AS TIMESTAMP)                           timestamp       NULL
try_cast('2024-01-00' AS TIMESTAMP)                           timestamp       NULL
try_cast('2024-04-31' AS TIMESTAMP)                           timestamp       NULL
try_cast('0000-01-01' AS TIMESTAMP)                           timestamp       micros -62167219200000000
try_cast('-0001-12-31' AS TIMESTAMP)                          timestamp       micros -62167305600000000
try_cast('+2024-01-01' AS TIMESTAMP)                          timestamp       2024-01-01T00:00:00Z
try_cast('+12345-01-01' AS TIMESTAMP)                         timestamp       micros 327403382400000000
try_cast('-12345-1-1' AS TIMESTAMP)                           timestamp       micros -451737734400000000
try_cast('9999-12-31' AS TIMESTAMP)                           timestamp       9999-12-31T00:00:00Z
try_cast('10000-01-01' AS TIMESTAMP)                          timestamp       micros 253402300800000000
try_cast('123456-01-01' AS TIMESTAMP)                         timestamp       micros 3833727840000000000
try_cast('1234567-01-01' AS TIMESTAMP)                        timestamp       NULL
try_cast('5881580-07-11' AS TIMESTAMP)                        timestamp       NULL
try_cast('5881580-07-12' AS TIMESTAMP)                        timestamp       NULL
try_cast('-5877641-06-23' AS TIMESTAMP)                       timestamp       NULL
try_cast('-5877641-06-22' AS TIMESTAMP)                       timestamp       NULL
try_cast('12345678-01-01' AS TIMESTAMP)                       timestamp       NULL
try_cast('999-01-01' AS TIMESTAMP)                            timestamp       NULL
try_cast('2024-001-01' AS TIMESTAMP)                          timestamp       NULL
try_cast('2024-1-001' AS TIMESTAMP)                           timestamp       NULL
try_cast('2024-01-05T' AS TIMESTAMP)                          timestamp       NULL
try_cast('2024-01-05Tgarbage' AS TIMESTAMP)                   timestamp       NULL
try_cast('2024-01-05 x' AS TIMESTAMP)                         timestamp       NULL
try_cast('2024-01-05x' AS TIMESTAMP)                          timestamp       NULL
try_cast('2024-01 x' AS TIMESTAMP)                            timestamp       NULL
try_cast('2024-' AS TIMESTAMP)                                timestamp       NULL
try_cast('2024 01 01' AS TIMESTAMP)                           timestamp       NULL
try_cast('2024/01/01' AS TIMESTAMP)                           timestamp       NULL
try_cast('20240105' AS TIMESTAMP)                             timestamp       NULL
try_cast('' AS TIMESTAMP)                                     timestamp       NULL
try_cast('-' AS TIMESTAMP)                                    timestamp       NULL
try_cast('\u0662024-01-05' AS TIMESTAMP)                      timestamp       NULL
try_cast('2024-01-05\u00A0' AS TIMESTAMP)                     timestamp       NULL
try_cast('2024-01-05 \u00A0' AS TIMESTAMP)                    timestamp       NULL
try_cast('2024-01-05' AS TIMESTAMP)                           timestamp       2024-01-05T00:00:00Z
try_cast('2024-01-05 5' AS TIMESTAMP)                         timestamp       2024-01-05T05:00:00Z
try_cast('2024-01-05T5' AS TIMESTAMP)                         timestamp       2024-01-05T05:00:00Z
try_cast('2024-01-05 05:06' AS TIMESTAMP)                     timestamp       2024-01-05T05:06:00Z
try_cast('2024-01-05 05:06:07' AS TIMESTAMP)                  timestamp       2024-01-05T05:06:07Z
try_cast('2024-01-05 5:6:7' AS TIMESTAMP)                     timestamp       2024-01-05T05:06:07Z
try_cast('2024-01-05T05:06:07.' AS TIMESTAMP)                 timestamp       2024-01-05T05:06:07Z
try_cast('2024-01-05T05:06:07.1' AS TIMESTAMP)                timestamp       2024-01-05T05:06:07.100000Z
try_cast('2024-01-05 05:06:07.123456' AS TIMESTAMP)           timestamp       2024-01-05T05:06:07.123456Z
try_cast('2024-01-05 05:06:07.1234569' AS TIMESTAMP)          timestamp       2024-01-05T05:06:07.123456Z
try_cast('2024-01-05T24:00:00' AS TIMESTAMP)                  timestamp       NULL
try_cast('2024-01-05T23:59:60' AS TIMESTAMP)                  timestamp       NULL
try_cast('2024-01-05 23:60:00' AS TIMESTAMP)                  timestamp       NULL
try_cast('2024-01-05 5:' AS TIMESTAMP)                        timestamp       NULL
try_cast('2024-01-05 05:06Z' AS TIMESTAMP)                    timestamp       NULL
try_cast('2024-01-05 05:06:07.1.2' AS TIMESTAMP)              timestamp       NULL
try_cast('2024-01-05\u0020\u002005:06:07' AS TIMESTAMP)       timestamp       NULL
try_cast('2024-01-05 05:06:07 ' AS TIMESTAMP)                 timestamp       2024-01-05T05:06:07Z
try_cast('2024-01-05 -5:06:07' AS TIMESTAMP)                  timestamp       NULL
try_cast('2024-01-05 05:06:007' AS TIMESTAMP)                 timestamp       NULL
try_cast('2024-01-05 01:02:03.5Z' AS TIMESTAMP)               timestamp       2024-01-05T01:02:03.500000Z
try_cast('2024-01-05 01:02:03.5 Z' AS TIMESTAMP)              timestamp       2024-01-05T01:02:03.500000Z
try_cast('2024-01-05 01:02:03.5UTC' AS TIMESTAMP)             timestamp       2024-01-05T01:02:03.500000Z
try_cast('2024-01-05 01:02:03.5 GMT' AS TIMESTAMP)            timestamp       2024-01-05T01:02:03.500000Z
try_cast('2024-01-05 01:02:03.5UT' AS TIMESTAMP)              timestamp       2024-01-05T01:02:03.500000Z
try_cast('2024-01-05 01:02:03.5utc' AS TIMESTAMP)             timestamp       NULL
try_cast('2024-01-05 01:02:03.5z' AS TIMESTAMP)               timestamp       NULL
try_cast('2024-01-05 01:02:03.5+1' AS TIMESTAMP)              timestamp       2024-01-05T00:02:03.500000Z
try_cast('2024-01-05 01:02:03.5+01' AS TIMESTAMP)             timestamp       2024-01-05T00:02:03.500000Z
try_cast('2024-01-05 01:02:03.5+1:0' AS TIMESTAMP)            timestamp       2024-01-05T00:02:03.500000Z
try_cast('2024-01-05 01:02:03.5+1:30' AS TIMESTAMP)           timestamp       2024-01-04T23:32:03.500000Z
try_cast('2024-01-05 01:02:03.5+01:3' AS TIMESTAMP)           timestamp       2024-01-04T23:59:03.500000Z
try_cast('2024-01-05 01:02:03.5+01:30' AS TIMESTAMP)          timestamp       2024-01-04T23:32:03.500000Z
try_cast('2024-01-05 01:02:03.5-0130' AS TIMESTAMP)           timestamp       2024-01-05T02:32:03.500000Z
try_cast('2024-01-05 01:02:03.5+130' AS TIMESTAMP)            timestamp       NULL
try_cast('2024-01-05 01:02:03.5+013045' AS TIMESTAMP)         timestamp       2024-01-04T23:31:18.500000Z
try_cast('2024-01-05 01:02:03.5+01:30:45' AS TIMESTAMP)       timestamp       2024-01-04T23:31:18.500000Z
try_cast('2024-01-05 01:02:03.5+1:30:45' AS TIMESTAMP)        timestamp       2024-01-04T23:31:18.500000Z
try_cast('2024-01-05 01:02:03.5+1:3:45' AS TIMESTAMP)         timestamp       NULL
try_cast('2024-01-05 01:02:03.5-18:00' AS TIMESTAMP)          timestamp       2024-01-05T19:02:03.500000Z
try_cast('2024-01-05 01:02:03.5-18:01' AS TIMESTAMP)          timestamp       NULL
try_cast('2024-01-05 01:02:03.5+18:00:01' AS TIMESTAMP)       timestamp       NULL
try_cast('2024-01-05 01:02:03.5+19' AS TIMESTAMP)             timestamp       NULL
try_cast('2024-01-05 01:02:03.5UTC+1' AS TIMESTAMP)           timestamp       2024-01-05T00:02:03.500000Z
try_cast('2024-01-05 01:02:03.5UTC-01:30' AS TIMESTAMP)       timestamp       2024-01-05T02:32:03.500000Z
try_cast('2024-01-05 01:02:03.5GMT-5' AS TIMESTAMP)           timestamp       2024-01-05T06:02:03.500000Z
try_cast('2024-01-05 01:02:03.5UT+0130' AS TIMESTAMP)         timestamp       2024-01-04T23:32:03.500000Z
try_cast('2024-01-05 01:02:03.5UTC+1:3' AS TIMESTAMP)         timestamp       2024-01-04T23:59:03.500000Z
try_cast('2024-01-05 01:02:03.5UTCZ' AS TIMESTAMP)            timestamp       NULL
try_cast('2024-01-05 01:02:03.5+' AS TIMESTAMP)               timestamp       NULL
try_cast('2024-01-05 01:02:03.5++1' AS TIMESTAMP)             timestamp       NULL
try_cast('2024-01-05 01:02:03.5+01:60' AS TIMESTAMP)          timestamp       NULL
try_cast('2024-01-05 01:02:03.5\t+01:00' AS TIMESTAMP)        timestamp       2024-01-05T00:02:03.500000Z
try_cast('2024-01-05 01:02:03.5+01:00 UTC' AS TIMESTAMP)      timestamp       NULL
try_cast('2024-01-05 01:02:03.5\u221201:00' AS TIMESTAMP)     timestamp       NULL
try_cast('294247-01-10 04:00:54.775807' AS TIMESTAMP)         timestamp       micros 9223372036854775807
try_cast('294247-01-10 04:00:54.775808' AS TIMESTAMP)         timestamp       NULL
try_cast('294247-01-10 04:00:54.775808+00:01' AS TIMESTAMP)   timestamp       micros 9223372036794775808
try_cast('-290308-12-21 19:59:05.224192' AS TIMESTAMP)        timestamp       micros -9223372036854775808
try_cast('-290308-12-21 19:59:05.224191' AS TIMESTAMP)        timestamp       NULL
try_cast('-290308-12-21T19:59:06' AS TIMESTAMP)               timestamp       micros -9223372036854000000

-- a zone in the text of a clock reading is passed over
try_cast('2024' AS TIMESTAMP_NTZ)                             timestamp_ntz   2024-01-01T00:00:00
try_cast('2024-1' AS TIMESTAMP_NTZ)                           timestamp_ntz   2024-01-01T00:00:00
try_cast('2024-01-05' AS TIMESTAMP_NTZ)                       timestamp_ntz   2024-01-05T00:00:00
try_cast('2024-1-5' AS TIMESTAMP_NTZ)                         timestamp_ntz   2024-01-05T00:00:00
try_cast(' 2024-02-29\n' AS TIMESTAMP_NTZ)                    timestamp_ntz   2024-02-29T00:00:00
try_cast('2023-02-29' AS TIMESTAMP_NTZ)                       timestamp_ntz   NULL
try_cast('2024-13-01' AS TIMESTAMP_NTZ)                       timestamp_ntz   NULL
try_cast('2024-00-01' AS TIMESTAMP_NTZ)                       timestamp_ntz   NULL
try_cast('2024-01-00' AS TIMESTAMP_NTZ)                       timestamp_ntz   NULL
try_cast('2024-04-31' AS TIMESTAMP_NTZ)                       timestamp_ntz   NULL
try_cast('0000-01-01' AS TIMESTAMP_NTZ)                       timestamp_ntz   micros -62167219200000000
try_cast('-0001-12-31' AS TIMESTAMP_NTZ)                      timestamp_ntz   micros -62167305600000000
try_cast('+2024-01-01' AS TIMESTAMP_NTZ)                      timestamp_ntz   2024-01-01T00:00:00
try_cast('+12345-01-01' AS TIMESTAMP_NTZ)                     timestamp_ntz   micros 327403382400000000
try_cast('-12345-1-1' AS TIMESTAMP_NTZ)                       timestamp_ntz   micros -451737734400000000
try_cast('9999-12-31' AS TIMESTAMP_NTZ)                       timestamp_ntz   9999-12-31T00:00:00
try_cast('10000-01-01' AS TIMESTAMP_NTZ)                      timestamp_ntz   micros 253402300800000000
try_cast('123456-01-01' AS TIMESTAMP_NTZ)                     timestamp_ntz   micros 3833727840000000000
try_cast('1234567-01-01' AS TIMESTAMP_NTZ)                    timestamp_ntz   NULL
try_cast('5881580-07-11' AS TIMESTAMP_NTZ)                    timestamp_ntz   NULL
try_cast('2024-01-05' AS TIMESTAMP_NTZ)                       timestamp_ntz   2024-01-05T00:00:00
try_cast('2024-01-05 5' AS TIMESTAMP_NTZ)                     timestamp_ntz   2024-01-05T05:00:00
try_cast('2024-01-05T5' AS TIMESTAMP_NTZ)                     timestamp_ntz   2024-01-05T05:00:00
try_cast('2024-01-05 05:06' AS TIMESTAMP_NTZ)                 timestamp_ntz   2024-01-05T05:06:00
try_cast('2024-01-05 05:06:07' AS TIMESTAMP_NTZ)              timestamp_ntz   2024-01-05T05:06:07
try_cast('2024-01-05 5:6:7' AS TIMESTAMP_NTZ)                 timestamp_ntz   2024-01-05T05:06:07
try_cast('2024-01-05T05:06:07.' AS TIMESTAMP_NTZ)             timestamp_ntz   2024-01-05T05:06:07
try_cast('2024-01-05T05:06:07.1' AS TIMESTAMP_NTZ)            timestamp_ntz   2024-01-05T05:06:07.100000
try_cast('2024-01-05 05:06:07.123456' AS TIMESTAMP_NTZ)       timestamp_ntz   2024-01-05T05:06:07.123456
try_cast('2024-01-05 05:06:07.1234569' AS TIMESTAMP_NTZ)      timestamp_ntz   2024-01-05T05:06:07.123456
try_cast('2024-01-05T24:00:00' AS TIMESTAMP_NTZ)              timestamp_ntz   NULL
try_cast('2024-01-05T23:59:60' AS TIMESTAMP_NTZ)              timestamp_ntz   NULL
try_cast('2024-01-05 23:60:00' AS TIMESTAMP_NTZ)              timestamp_ntz   NULL
try_cast('2024-01-05 5:' AS TIMESTAMP_NTZ)                    timestamp_ntz   NULL
try_cast('2024-01-05 05:06Z' AS TIMESTAMP_NTZ)                timestamp_ntz   NULL
try_cast('2024-01-05 05:06:07.1.2' AS TIMESTAMP_NTZ)          timestamp_ntz   NULL
try_cast('2024-01-05\u0020\u002005:06:07' AS TIMESTAMP_NTZ)   timestamp_ntz   NULL
try_cast('2024-01-05 05:06:07 ' AS TIMESTAMP_NTZ)             timestamp_ntz   2024-01-05T05:06:07
try_cast('2024-01-05 -5:06:07' AS TIMESTAMP_NTZ)              timestamp_ntz   NULL
try_cast('2024-01-05 05:06:007' AS TIMESTAMP_NTZ)             timestamp_ntz   NULL
try_cast('2024-01-05T05:06:07 +01:00' AS TIMESTAMP_NTZ)       timestamp_ntz   2024-01-05T05:06:07
try_cast('2024-01-05T05:06:07+19' AS TIMESTAMP_NTZ)           timestamp_ntz   NULL
try_cast('2024-01-05T05:06:07Z' AS TIMESTAMP_NTZ)             timestamp_ntz   2024-01-05T05:06:07
CAST('12:30' AS TIMESTAMP_NTZ)                                timestamp_ntz   NULL
CAST('2024-02-30' AS DATE)                                    date            NULL
CAST('2024-02-30' AS TIMESTAMP)                               timestamp       NULL
CAST('2024-01-05T01:02:03Z' AS TIMESTAMP)                     timestamp       2024-01-05T01:02:03Z
'2024-01-05'::DATE                                            date            2024-01-05

-- times to text: fractions without zeros at the end, a sign before years that have not four digits
CAST(dt AS STRING)                                            string          "1970-01-01" | "1969-12-31" | "1970-01-02" | NULL | "2013-01-01" | "2000-02-29" | "2013-12-31" | "0001-01-01" | "9999-12-31" | "1582-10-15" | "1971-01-01" | "2024-02-29" | "2020-01-01" | "2023-01-01" | "2026-01-01" | "1970-01-01" | "1969-12-31" | "1970-01-02" | NULL | "2013-01-01" | "2000-02-29" | "2013-12-31" | "0001-01-01" | "9999-12-31"
CAST(ts AS STRING)                                            string          "1970-01-01 00:00:00" | "1969-12-31 23:59:59.999999" | "1970-01-01 00:00:00.000001" | "1970-01-01 00:00:00.999999" | "1969-12-31 23:59:59" | "1969-12-31 23:59:58.5" | NULL | "2013-03-10 06:59:59.999999" | "2013-03-10 07:00:00" | "2013-11-03 05:30:00" | "2013-11-03 06:30:00" | "2013-11-15 02:03:04.56789" | "1883-11-18 17:00:00" | "1900-01-01 00:00:00" | "1582-10-15 00:00:00" | "0001-01-01 00:00:00" | "9999-12-31 23:59:59.999999" | "2000-02-29 12:34:56" | "2024-12-30 00:00:00" | "2023-01-01 00:00:00" | "1969-12-31 23:59:59" | "2038-01-19 03:14:08" | "2100-07-01 00:00:00" | "1970-01-01 00:00:00"
CAST(ntz AS STRING)                                           string          "1970-01-01 00:00:00" | NULL | "1969-12-31 23:59:59.999999" | "1970-01-01 00:00:00.000001" | "2013-11-15 02:03:04.56789" | "0001-01-01 00:00:00" | "9999-12-31 23:59:59.999999" | "1900-01-01 00:00:00" | "2000-02-29 12:34:56.5" | "2013-03-10 06:59:59.999999" | "1970-01-01 23:59:59.999999" | "1969-12-30 23:59:59.999999" | "2024-01-05 03:00:00" | "1970-01-01 00:00:00" | NULL | "1969-12-31 23:59:59.999999" | "1970-01-01 00:00:00.000001" | "2013-11-15 02:03:04.56789" | "0001-01-01 00:00:00" | "9999-12-31 23:59:59.999999" | "1900-01-01 00:00:00" | "2000-02-29 12:34:56.5" | "2013-03-10 06:59:59.999999" | "1970-01-01 23:59:59.999999"
CAST(timestamp_micros(i64) AS STRING)                         string          "1970-01-01 00:00:00" | "1970-01-01 00:00:00.000001" | "1969-12-31 23:59:59.999999" | NULL | "1970-01-01 00:00:00.000002" | "1969-12-31 23:59:59.999993" | "1970-01-01 00:00:00.00001" | "+294247-01-10 04:00:54.775807" | "-290308-12-21 19:59:05.224192" | "2255-06-05 23:47:34.740993" | "1970-01-01 00:50:37.0005" | "1969-12-31 23:24:12.516351" | "1970-01-01 00:00:00.000025" | "1684-07-28 00:12:25.259007" | "1970-01-01 00:00:00" | "1970-01-01 00:00:00.000001" | "1969-12-31 23:59:59.999999" | NULL | "1970-01-01 00:00:00.000002" | "1969-12-31 23:59:59.999993" | "1970-01-01 00:00:00.00001" | "+294247-01-10 04:00:54.775807" | "-290308-12-21 19:59:05.224192" | "2255-06-05 23:47:34.740993"
CAST(CAST(-1 AS TIMESTAMP) AS STRING)                         string          "1969-12-31 23:59:59"
CAST(CAST(i32 AS TIMESTAMP) AS STRING)                        string          "1970-01-01 00:00:00" | "1970-01-01 00:00:01" | NULL | "1969-12-31 23:59:59" | "1970-01-01 00:00:02" | "1969-12-31 23:59:53" | "1970-01-01 00:00:10" | "2038-01-19 03:14:07" | "1901-12-13 20:45:52" | "1970-01-01 12:52:21" | "1969-12-31 05:47:44" | "1970-01-01 00:00:05" | "1970-01-01 00:00:15" | "1970-01-01 00:00:25" | "1969-12-31 23:59:35" | "1970-07-14 04:20:17" | "1970-01-01 00:00:00" | "1970-01-01 00:00:01" | NULL | "1969-12-31 23:59:59" | "1970-01-01 00:00:02" | "1969-12-31 23:59:53" | "1970-01-01 00:00:10" | "2038-01-19 03:14:07"
CAST(CAST('-0044-03-15' AS DATE) AS STRING)                   string          "-0044-03-15"
CAST(CAST('+12345-01-01' AS DATE) AS STRING)                  string          "+12345-01-01"

-- between times
CAST(dt AS TIMESTAMP)                                         timestamp       1970-01-01T00:00:00Z | 1969-12-31T00:00:00Z | 1970-01-02T00:00:00Z | NULL | 2013-01-01T00:00:00Z | 2000-02-29T00:00:00Z | 2013-12-31T00:00:00Z | 0001-01-01T00:00:00Z | 9999-12-31T00:00:00Z | 1582-10-15T00:00:00Z | 1971-01-01T00:00:00Z | 2024-02-29T00:00:00Z | 2020-01-01T00:00:00Z | 2023-01-01T00:00:00Z | 2026-01-01T00:00:00Z | 1970-01-01T00:00:00Z | 1969-12-31T00:00:00Z | 1970-01-02T00:00:00Z | NULL | 2013-01-01T00:00:00Z | 2000-02-29T00:00:00Z | 2013-12-31T00:00:00Z | 0001-01-01T00:00:00Z | 9999-12-31T00:00:00Z
CAST(dt AS TIMESTAMP_NTZ)                                     timestamp_ntz   1970-01-01T00:00:00 | 1969-12-31T00:00:00 | 1970-01-02T00:00:00 | NULL | 2013-01-01T00:00:00 | 2000-02-29T00:00:00 | 2013-12-31T00:00:00 | 0001-01-01T00:00:00 | 9999-12-31T00:00:00 | 1582-10-15T00:00:00 | 1971-01-01T00:00:00 | 2024-02-29T00:00:00 | 2020-01-01T00:00:00 | 2023-01-01T00:00:00 | 2026-01-01T00:00:00 | 1970-01-01T00:00:00 | 1969-12-31T00:00:00 | 1970-01-02T00:00:00 | NULL | 2013-01-01T00:00:00 | 2000-02-29T00:00:00 | 2013-12-31T00:00:00 | 0001-01-01T00:00:00 | 9999-12-31T00:00:00
CAST(ts AS DATE)                                              date            1970-01-01 | 1969-12-31 | 1970-01-01 | 1970-01-01 | 1969-12-31 | 1969-12-31 | NULL | 2013-03-10 | 2013-03-10 | 2013-11-03 | 2013-11-03 | 2013-11-15 | 1883-11-18 | 1900-01-01 | 1582-10-15 | 0001-01-01 | 9999-12-31 | 2000-02-29 | 2024-12-30 | 2023-01-01 | 1969-12-31 | 2038-01-19 | 2100-07-01 | 1970-01-01
CAST(ts AS TIMESTAMP_NTZ)                                     timestamp_ntz   1970-01-01T00:00:00 | 1969-12-31T23:59:59.999999 | 1970-01-01T00:00:00.000001 | 1970-01-01T00:00:00.999999 | 1969-12-31T23:59:59 | 1969-12-31T23:59:58.500000 | NULL | 2013-03-10T06:59:59.999999 | 2013-03-10T07:00:00 | 2013-11-03T05:30:00 | 2013-11-03T06:30:00 | 2013-11-15T02:03:04.567890 | 1883-11-18T17:00:00 | 1900-01-01T00:00:00 | 1582-10-15T00:00:00 | 0001-01-01T00:00:00 | 9999-12-31T23:59:59.999999 | 2000-02-29T12:34:56 | 2024-12-30T00:00:00 | 2023-01-01T00:00:00 | 1969-12-31T23:59:59 | 2038-01-19T03:14:08 | 2100-07-01T00:00:00 | 1970-01-01T00:00:00
CAST(ntz AS TIMESTAMP)                                        timestamp       1970-01-01T00:00:00Z | NULL | 1969-12-31T23:59:59.999999Z | 1970-01-01T00:00:00.000001Z | 2013-11-15T02:03:04.567890Z | 0001-01-01T00:00:00Z | 9999-12-31T23:59:59.999999Z | 1900-01-01T00:00:00Z | 2000-02-29T12:34:56.500000Z | 2013-03-10T06:59:59.999999Z | 1970-01-01T23:59:59.999999Z | 1969-12-30T23:59:59.999999Z | 2024-01-05T03:00:00Z | 1970-01-01T00:00:00Z | NULL | 1969-12-31T23:59:59.999999Z | 1970-01-01T00:00:00.000001Z | 2013-11-15T02:03:04.567890Z | 0001-01-01T00:00:00Z | 9999-12-31T23:59:59.999999Z | 1900-01-01T00:00:00Z | 2000-02-29T12:34:56.500000Z | 2013-03-10T06:59:59.999999Z | 1970-01-01T23:59:59.999999Z
CAST(ntz AS DATE)                                             date            1970-01-01 | NULL | 1969-12-31 | 1970-01-01 | 2013-11-15 | 0001-01-01 | 9999-12-31 | 1900-01-01 | 2000-02-29 | 2013-03-10 | 1970-01-01 | 1969-12-30 | 2024-01-05 | 1970-01-01 | NULL | 1969-12-31 | 1970-01-01 | 2013-11-15 | 0001-01-01 | 9999-12-31 | 1900-01-01 | 2000-02-29 | 2013-03-10 | 1970-01-01

-- timestamps and numbers: seconds; whole ones go down, other decimals are cut to microseconds
try_cast(ts AS TINYINT)                                       tinyint         0 | -1 | 0 | 0 | -1 | -2 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | -1 | NULL | NULL | 0
try_cast(ts AS SMALLINT)                                      smallint        0 | -1 | 0 | 0 | -1 | -2 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | -1 | NULL | NULL | 0
try_cast(ts AS INT)                                           int             0 | -1 | 0 | 0 | -1 | -2 | NULL | 1362898799 | 1362898800 | 1383456600 | 1383460200 | 1384480984 | NULL | NULL | NULL | NULL | NULL | 951827696 | 1735516800 | 1672531200 | -1 | NULL | NULL | 0
try_cast(ts AS BIGINT)                                        bigint          0 | -1 | 0 | 0 | -1 | -2 | NULL | 1362898799 | 1362898800 | 1383456600 | 1383460200 | 1384480984 | -2717650800 | -2208988800 | -12219292800 | -62135596800 | 253402300799 | 951827696 | 1735516800 | 1672531200 | -1 | 2147483648 | 4118083200 | 0
try_cast(ts AS FLOAT)                                         float           0.0 | -9.999999974752427e-07 | 9.999999974752427e-07 | 0.9999989867210388 | -1.0 | -1.5 | NULL | 1362898816.0 | 1362898816.0 | 1383456640.0 | 1383460224.0 | 1384481024.0 | -2717650688.0 | -2208988672.0 | -12219292672.0 | -62135595008.0 | 253402300416.0 | 951827712.0 | 1735516800.0 | 1672531200.0 | -1.0 | 2147483648.0 | 4118083072.0 | 0.0
try_cast(ts AS DOUBLE)                                        double          0.0 | -1e-06 | 1e-06 | 0.999999 | -1.0 | -1.5 | NULL | 1362898799.999999 | 1362898800.0 | 1383456600.0 | 1383460200.0 | 1384480984.56789 | -2717650800.0 | -2208988800.0 | -12219292800.0 | -62135596800.0 | 253402300800.0 | 951827696.0 | 1735516800.0 | 1672531200.0 | -1.0 | 2147483648.0 | 4118083200.0 | 0.0
try_cast(ts AS DECIMAL(5,2))                                  decimal(5,2)    0.00 | 0.00 | 0.00 | 1.00 | -1.00 | -1.50 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | -1.00 | NULL | NULL | 0.00
try_cast(ts AS DECIMAL(20,6))                                 decimal(20,6)   0.000000 | -0.000001 | 0.000001 | 0.999999 | -1.000000 | -1.500000 | NULL | 1362898799.999999 | 1362898800.000000 | 1383456600.000000 | 1383460200.000000 | 1384480984.567890 | -2717650800.000000 | -2208988800.000000 | -12219292800.000000 | -62135596800.000000 | 253402300799.999999 | 951827696.000000 | 1735516800.000000 | 1672531200.000000 | -1.000000 | 2147483648.000000 | 4118083200.000000 | 0.000000
try_cast(ts AS DECIMAL(38,10))                                decimal(38,10)  0.0000000000 | -0.0000010000 | 0.0000010000 | 0.9999990000 | -1.0000000000 | -1.5000000000 | NULL | 1362898799.9999990000 | 1362898800.0000000000 | 1383456600.0000000000 | 1383460200.0000000000 | 1384480984.5678900000 | -2717650800.0000000000 | -2208988800.0000000000 | -12219292800.0000000000 | -62135596800.0000000000 | 253402300799.9999990000 | 951827696.0000000000 | 1735516800.0000000000 | 1672531200.0000000000 | -1.0000000000 | 2147483648.0000000000 | 4118083200.0000000000 | 0.0000000000
try_cast(ts AS DECIMAL(14,3))                                 decimal(14,3)   0.000 | 0.000 | 0.000 | 1.000 | -1.000 | -1.500 | NULL | 1362898800.000 | 1362898800.000 | 1383456600.000 | 1383460200.000 | 1384480984.568 | -2717650800.000 | -2208988800.000 | -12219292800.000 | -62135596800.000 | NULL | 951827696.000 | 1735516800.000 | 1672531200.000 | -1.000 | 2147483648.000 | 4118083200.000 | 0.000
try_cast(ts AS DECIMAL(38,0))                                 decimal(38,0)   0 | 0 | 0 | 1 | -1 | -2 | NULL | 1362898800 | 1362898800 | 1383456600 | 1383460200 | 1384480985 | -2717650800 | -2208988800 | -12219292800 | -62135596800 | 253402300800 | 951827696 | 1735516800 | 1672531200 | -1 | 2147483648 | 4118083200 | 0
try_cast(i8 AS TIMESTAMP)                                     timestamp       NULL | 1970-01-01T00:00:00Z | 1970-01-01T00:00:01Z | 1969-12-31T23:59:59Z | 1970-01-01T00:00:02Z | 1970-01-01T00:00:07Z | 1969-12-31T23:59:53Z | 1970-01-01T00:02:07Z | 1969-12-31T23:57:52Z | 1970-01-01T00:01:40Z | 1969-12-31T23:58:20Z | NULL | 1970-01-01T00:00:00Z | 1970-01-01T00:00:01Z | 1969-12-31T23:59:59Z | 1970-01-01T00:00:02Z | 1970-01-01T00:00:07Z | 1969-12-31T23:59:53Z | 1970-01-01T00:02:07Z | 1969-12-31T23:57:52Z | 1970-01-01T00:01:40Z | 1969-12-31T23:58:20Z | NULL | 1970-01-01T00:00:00Z
try_cast(i16 AS TIMESTAMP)                                    timestamp       1970-01-01T00:00:00Z | NULL | 1970-01-01T00:00:01Z | 1969-12-31T23:59:59Z | 1970-01-01T00:00:03Z | 1970-01-01T00:02:08Z | 1969-12-31T23:57:51Z | 1970-01-01T09:06:07Z | 1969-12-31T14:53:52Z | 1970-01-01T00:04:15Z | 1969-12-31T23:56:40Z | 1970-01-01T00:00:00Z | NULL | 1970-01-01T00:00:01Z | 1969-12-31T23:59:59Z | 1970-01-01T00:00:03Z | 1970-01-01T00:02:08Z | 1969-12-31T23:57:51Z | 1970-01-01T09:06:07Z | 1969-12-31T14:53:52Z | 1970-01-01T00:04:15Z | 1969-12-31T23:56:40Z | 1970-01-01T00:00:00Z | NULL
try_cast(i32 AS TIMESTAMP)                                    timestamp       1970-01-01T00:00:00Z | 1970-01-01T00:00:01Z | NULL | 1969-12-31T23:59:59Z | 1970-01-01T00:00:02Z | 1969-12-31T23:59:53Z | 1970-01-01T00:00:10Z | 2038-01-19T03:14:07Z | 1901-12-13T20:45:52Z | 1970-01-01T12:52:21Z | 1969-12-31T05:47:44Z | 1970-01-01T00:00:05Z | 1970-01-01T00:00:15Z | 1970-01-01T00:00:25Z | 1969-12-31T23:59:35Z | 1970-07-14T04:20:17Z | 1970-01-01T00:00:00Z | 1970-01-01T00:00:01Z | NULL | 1969-12-31T23:59:59Z | 1970-01-01T00:00:02Z | 1969-12-31T23:59:53Z | 1970-01-01T00:00:10Z | 2038-01-19T03:14:07Z
try_cast(f32 AS TIMESTAMP)                                    timestamp       1970-01-01T00:00:00Z | 1970-01-01T00:00:00Z | 1970-01-01T00:00:01Z | 1969-12-31T23:59:58.500000Z | NULL | 1970-01-01T00:00:00.500000Z | 1970-01-01T00:00:02.500000Z | 1970-01-01T00:00:00.100000Z | NULL | NULL | NULL | NULL | NULL | 1970-01-01T00:00:00Z | 1970-07-14T04:20:16Z | 1970-01-01T00:00:01.100000Z | 1969-12-31T23:59:57.500000Z | 1970-01-01T00:00:03.333333Z | 1970-01-01T00:00:00Z | 1970-01-01T00:00:00Z | 1970-01-01T00:00:01Z | 1969-12-31T23:59:58.500000Z | NULL | 1970-01-01T00:00:00.500000Z
try_cast(f64 AS TIMESTAMP)                                    timestamp       1970-01-01T00:00:00Z | 1970-01-01T00:00:00Z | 1970-01-01T00:00:01Z | 1969-12-31T23:59:58.500000Z | 1970-01-01T00:00:00.500000Z | NULL | 1970-01-01T00:00:02.500000Z | 1969-12-31T23:59:57.500000Z | 1970-01-01T00:00:00.100000Z | 1970-01-01T00:00:00.300000Z | NULL | NULL | NULL | NULL | 1970-01-01T00:00:00Z | NULL | NULL | NULL | NULL | 1970-01-01T00:00:01.004999Z | 1970-01-01T00:00:02.675000Z | 1970-01-02T10:17:36.789000Z | 1969-12-31T23:59:59.950000Z | 1970-01-01T00:00:00Z
try_cast(d5_2 AS TIMESTAMP)                                   timestamp       1970-01-01T00:00:00Z | 1970-01-01T00:00:01Z | 1969-12-31T23:59:59Z | 1970-01-01T00:00:00.010000Z | 1970-01-01T00:16:39.990000Z | 1969-12-31T23:43:20.010000Z | NULL | 1970-01-01T00:00:02.500000Z | 1970-01-01T00:00:00.050000Z | 1969-12-31T23:59:59.950000Z | 1970-01-01T00:00:09.990000Z | 1970-01-01T00:02:05.450000Z | 1970-01-01T00:00:00Z | 1970-01-01T00:00:01Z | 1969-12-31T23:59:59Z | 1970-01-01T00:00:00.010000Z | 1970-01-01T00:16:39.990000Z | 1969-12-31T23:43:20.010000Z | NULL | 1970-01-01T00:00:02.500000Z | 1970-01-01T00:00:00.050000Z | 1969-12-31T23:59:59.950000Z | 1970-01-01T00:00:09.990000Z | 1970-01-01T00:02:05.450000Z
try_cast(d18_6 AS TIMESTAMP)                                  timestamp       1970-01-01T00:00:00Z | 1970-01-01T00:00:01.500000Z | 1969-12-31T23:59:58.500000Z | 1970-01-01T00:00:00.000001Z | micros 999999999999999999 | micros -999999999999999999 | 1970-01-01T00:00:03.333333Z | NULL | 1970-01-01T00:00:02.675000Z | 1970-01-01T00:00:00.500000Z | 1970-01-01T00:00:00Z | 1970-01-01T00:00:01.500000Z | 1969-12-31T23:59:58.500000Z | 1970-01-01T00:00:00.000001Z | micros 999999999999999999 | micros -999999999999999999 | 1970-01-01T00:00:03.333333Z | NULL | 1970-01-01T00:00:02.675000Z | 1970-01-01T00:00:00.500000Z | 1970-01-01T00:00:00Z | 1970-01-01T00:00:01.500000Z | 1969-12-31T23:59:58.500000Z | 1970-01-01T00:00:00.000001Z
try_cast(1.9999999D AS TIMESTAMP)                             timestamp       1970-01-01T00:00:01.999999Z
try_cast(-1.9999999D AS TIMESTAMP)                            timestamp       1969-12-31T23:59:58.000001Z
try_cast(9223372036854.775807D AS TIMESTAMP)                  timestamp       micros 9223372036854775807
try_cast(9.3E12D AS TIMESTAMP)                                timestamp       NULL
try_cast(CAST('NaN' AS DOUBLE) AS TIMESTAMP)                  timestamp       NULL
try_cast(CAST('inf' AS DOUBLE) AS TIMESTAMP)                  timestamp       NULL
try_cast(0.1F AS TIMESTAMP)                                   timestamp       1970-01-01T00:00:00.100000Z
try_cast(1.9999999BD AS TIMESTAMP)                            timestamp       1970-01-01T00:00:01.999999Z
try_cast(-1.9999999BD AS TIMESTAMP)                           timestamp       1969-12-31T23:59:58.000001Z
try_cast(9223372036854.775807BD AS TIMESTAMP)                 timestamp       micros 9223372036854775807
try_cast(-9223372036854.775808BD AS TIMESTAMP)                timestamp       micros -9223372036854775808
try_cast(9223372036854L AS TIMESTAMP)                         timestamp       micros 9223372036854000000
try_cast(-9223372036854L AS TIMESTAMP)                        timestamp       micros -9223372036854000000
