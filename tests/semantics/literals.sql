-- Recorded by `python -m tests.semantics.record` from Spark 4.3.0, JDK 17, ANSI true, session zone UTC.
-- Columns are those of tests/semantics/edges.py; their cases have one value for each of its rows.
-- integers are int, then bigint, then decimal
0                                        int             0
1                                        int             1
-1                                       int             -1
2147483647                               int             2147483647
2147483648                               bigint          2147483648
-2147483648                              int             -2147483648
-2147483649                              bigint          -2147483649
9223372036854775807                      bigint          9223372036854775807
9223372036854775808                      decimal(19,0)   9223372036854775808
-9223372036854775808                     bigint          -9223372036854775808
-9223372036854775809                     decimal(19,0)   -9223372036854775809
99999999999999999999                     decimal(20,0)   99999999999999999999
99999999999999999999999999999999999999   decimal(38,0)   99999999999999999999999999999999999999
1Y                                       tinyint         1
-128Y                                    tinyint         -128
1S                                       smallint        1
-32768S                                  smallint        -32768
1L                                       bigint          1
-9223372036854775808L                    bigint          -9223372036854775808
007                                      int             7

-- a point makes a decimal, an exponent a double
1.5                                      decimal(2,1)    1.5
-1.5                                     decimal(2,1)    -1.5
0.5                                      decimal(1,1)    0.5
.5                                       decimal(1,1)    0.5
1.                                       decimal(1,0)    1
0.0                                      decimal(1,1)    0.0
-0.0                                     decimal(1,1)    0.0
1.50                                     decimal(3,2)    1.50
0.05                                     decimal(2,2)    0.05
00.10                                    decimal(2,2)    0.10
12345678901234567890.123456789012345678  decimal(38,18)  12345678901234567890.123456789012345678
1.5BD                                    decimal(2,1)    1.5
1.50BD                                   decimal(3,2)    1.50
100BD                                    decimal(3,0)    100
1D                                       double          1.0
1.5D                                     double          1.5
-1.5D                                    double          -1.5
0.0D                                     double          0.0
-0.0D                                    double          -0.0
1F                                       float           1.0
0.1F                                     float           0.10000000149011612
-0.1F                                    float           -0.10000000149011612
16777217F                                float           16777216.0
1e3                                      double          1000.0
1E3                                      double          1000.0
1.5e-3                                   double          0.0015
-1e3                                     double          -1000.0
1e3D                                     double          1000.0
1.5E2F                                   float           150.0
1e-320                                   double          1e-320
4.9E-324D                                double          5e-324
1.7976931348623157E308D                  double          1.7976931348623157e+308
2.2250738585072014E-308D                 double          2.2250738585072014e-308
.1e1                                     double          1.0
1.e1                                     double          10.0
3.4028234E38F                            float           3.4028234663852886e+38
1.4E-45F                                 float           1.401298464324817e-45

-- text
'a'                                      string          "a"
''                                       string          ""
'it\'s'                                  string          "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's"
'it''s'                                  string          "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's"
"double"                                 string          "double"
"it's"                                   string          "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's" | "it's"
'tab\there'                              string          "tab\there"
'\u00e9'                                 string          "\xe9"
'\\'                                     string          "\\"
'\%'                                     string          "\\%"
'\_'                                     string          "\\_"
'a\0b'                                   string          "a\x00b"
'\101'                                   string          "A"
'\Z'                                     string          "\x1a"
'\x'                                     string          "x"
'日本'                                     string          "\u65e5\u672c"
'😀'                                      string          "\U0001f600"
'a\nb'                                   string          "a\nb"
'"'                                      string          "\""
'\"'                                     string          "\""
'`'                                      string          "`"
'$'                                      string          "$"

-- truth and time
true                                     boolean         true
false                                    boolean         false
TRUE                                     boolean         true
False                                    boolean         false
DATE '2013-11-15'                        date            2013-11-15
DATE '0001-01-01'                        date            0001-01-01
DATE '9999-12-31'                        date            9999-12-31
DATE '1582-10-10'                        date            1582-10-10
TIMESTAMP '2013-11-15T02:00:00Z'         timestamp       2013-11-15T02:00:00Z
TIMESTAMP '2013-11-15 02:00:00.5-05:00'  timestamp       2013-11-15T07:00:00.500000Z
TIMESTAMP '1969-12-31T23:59:59.999999Z'  timestamp       1969-12-31T23:59:59.999999Z
TIMESTAMP '0001-01-01T00:00:00Z'         timestamp       0001-01-01T00:00:00Z
TIMESTAMP '9999-12-31T23:59:59.999999Z'  timestamp       9999-12-31T23:59:59.999999Z
NULL IS NULL                             boolean         true
