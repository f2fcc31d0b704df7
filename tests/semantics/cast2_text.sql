-- Recorded by `python -m tests.semantics.record` from Spark 4.3.0, JDK 17, ANSI true, session zone UTC.
-- Columns are those of tests/semantics/edges.py; their cases have one value for each of its rows.
-- text to numbers: blanks and control characters around are dropped; digits are 0 to 9; no suffix but for floats
try_cast('1' AS INT)                                          int             1
try_cast('1' AS DOUBLE)                                       double          1.0
try_cast('1' AS DECIMAL(8,2))                                 decimal(8,2)    1.00
try_cast('-1' AS INT)                                         int             -1
try_cast('-1' AS DOUBLE)                                      double          -1.0
try_cast('-1' AS DECIMAL(8,2))                                decimal(8,2)    -1.00
try_cast('+5' AS INT)                                         int             5
try_cast('+5' AS DOUBLE)                                      double          5.0
try_cast('+5' AS DECIMAL(8,2))                                decimal(8,2)    5.00
try_cast('00012' AS INT)                                      int             12
try_cast('00012' AS DOUBLE)                                   double          12.0
try_cast('00012' AS DECIMAL(8,2))                             decimal(8,2)    12.00
try_cast('1.' AS INT)                                         int             NULL
try_cast('1.' AS DOUBLE)                                      double          1.0
try_cast('1.' AS DECIMAL(8,2))                                decimal(8,2)    1.00
try_cast('1.5' AS INT)                                        int             NULL
try_cast('1.5' AS DOUBLE)                                     double          1.5
try_cast('1.5' AS DECIMAL(8,2))                               decimal(8,2)    1.50
try_cast('.5' AS INT)                                         int             NULL
try_cast('.5' AS DOUBLE)                                      double          0.5
try_cast('.5' AS DECIMAL(8,2))                                decimal(8,2)    0.50
try_cast('-.5' AS INT)                                        int             NULL
try_cast('-.5' AS DOUBLE)                                     double          -0.5
try_cast('-.5' AS DECIMAL(8,2))                               decimal(8,2)    -0.50
try_cast('.' AS INT)                                          int             NULL
try_cast('.' AS DOUBLE)                                       double          NULL
try_cast('.' AS DECIMAL(8,2))                                 decimal(8,2)    NULL
try_cast('1e3' AS INT)                                        int             NULL
try_cast('1e3' AS DOUBLE)                                     double          1000.0
try_cast('1e3' AS DECIMAL(8,2))                               decimal(8,2)    1000.00
try_cast('1E-3' AS INT)                                       int             NULL
try_cast('1E-3' AS DOUBLE)                                    double          0.001
try_cast('1E-3' AS DECIMAL(8,2))                              decimal(8,2)    0.00
try_cast('1e' AS INT)                                         int             NULL
try_cast('1e' AS DOUBLE)                                      double          NULL
try_cast('1e' AS DECIMAL(8,2))                                decimal(8,2)    NULL
try_cast('1d' AS INT)                                         int             NULL
try_cast('1d' AS DOUBLE)                                      double          1.0
try_cast('1d' AS DECIMAL(8,2))                                decimal(8,2)    NULL
try_cast('1.5e3D' AS INT)                                     int             NULL
try_cast('1.5e3D' AS DOUBLE)                                  double          1500.0
try_cast('1.5e3D' AS DECIMAL(8,2))                            decimal(8,2)    NULL
try_cast('1f' AS INT)                                         int             NULL
try_cast('1f' AS DOUBLE)                                      double          1.0
try_cast('1f' AS DECIMAL(8,2))                                decimal(8,2)    NULL
try_cast('1L' AS INT)                                         int             NULL
try_cast('1L' AS DOUBLE)                                      double          NULL
try_cast('1L' AS DECIMAL(8,2))                                decimal(8,2)    NULL
try_cast('Infinity' AS INT)                                   int             NULL
try_cast('Infinity' AS DOUBLE)                                double          Infinity
try_cast('Infinity' AS DECIMAL(8,2))                          decimal(8,2)    NULL
try_cast('-Infinity' AS INT)                                  int             NULL
try_cast('-Infinity' AS DOUBLE)                               double          -Infinity
try_cast('-Infinity' AS DECIMAL(8,2))                         decimal(8,2)    NULL
try_cast('+infinity' AS INT)                                  int             NULL
try_cast('+infinity' AS DOUBLE)                               double          Infinity
try_cast('+infinity' AS DECIMAL(8,2))                         decimal(8,2)    NULL
try_cast('INF' AS INT)                                        int             NULL
try_cast('INF' AS DOUBLE)                                     double          Infinity
try_cast('INF' AS DECIMAL(8,2))                               decimal(8,2)    NULL
try_cast('-inf' AS INT)                                       int             NULL
try_cast('-inf' AS DOUBLE)                                    double          -Infinity
try_cast('-inf' AS DECIMAL(8,2))                              decimal(8,2)    NULL
try_cast('NaN' AS INT)                                        int             NULL
try_cast('NaN' AS DOUBLE)                                     double          NaN
try_cast('NaN' AS DECIMAL(8,2))                               decimal(8,2)    NULL
try_cast('nan' AS INT)                                        int             NULL
try_cast('nan' AS DOUBLE)                                     double          NaN
try_cast('nan' AS DECIMAL(8,2))                               decimal(8,2)    NULL
try_cast('+NaN' AS INT)                                       int             NULL
try_cast('+NaN' AS DOUBLE)                                    double          NaN
try_cast('+NaN' AS DECIMAL(8,2))                              decimal(8,2)    NULL
try_cast('0x1F' AS INT)                                       int             NULL
try_cast('0x1F' AS DOUBLE)                                    double          NULL
try_cast('0x1F' AS DECIMAL(8,2))                              decimal(8,2)    NULL
try_cast('0x1.8p1' AS INT)                                    int             NULL
try_cast('0x1.8p1' AS DOUBLE)                                 double          3.0
try_cast('0x1.8p1' AS DECIMAL(8,2))                           decimal(8,2)    NULL
try_cast('1_000' AS INT)                                      int             NULL
try_cast('1_000' AS DOUBLE)                                   double          NULL
try_cast('1_000' AS DECIMAL(8,2))                             decimal(8,2)    NULL
try_cast('\u0661\u0662' AS INT)                               int             NULL
try_cast('\u0661\u0662' AS DOUBLE)                            double          NULL
try_cast('128' AS INT)                                        int             128
try_cast('128' AS DOUBLE)                                     double          128.0
try_cast('128' AS DECIMAL(8,2))                               decimal(8,2)    128.00
try_cast('-128' AS INT)                                       int             -128
try_cast('-128' AS DOUBLE)                                    double          -128.0
try_cast('-128' AS DECIMAL(8,2))                              decimal(8,2)    -128.00
try_cast('-129' AS INT)                                       int             -129
try_cast('-129' AS DOUBLE)                                    double          -129.0
try_cast('-129' AS DECIMAL(8,2))                              decimal(8,2)    -129.00
try_cast('32768' AS INT)                                      int             32768
try_cast('32768' AS DOUBLE)                                   double          32768.0
try_cast('32768' AS DECIMAL(8,2))                             decimal(8,2)    32768.00
try_cast('-32768' AS INT)                                     int             -32768
try_cast('-32768' AS DOUBLE)                                  double          -32768.0
try_cast('-32768' AS DECIMAL(8,2))                            decimal(8,2)    -32768.00
try_cast('2147483647' AS INT)                                 int             2147483647
try_cast('2147483647' AS DOUBLE)                              double          2147483647.0
try_cast('2147483647' AS DECIMAL(8,2))                        decimal(8,2)    NULL
try_cast('2147483648' AS INT)                                 int             NULL
try_cast('2147483648' AS DOUBLE)                              double          2147483648.0
try_cast('2147483648' AS DECIMAL(8,2))                        decimal(8,2)    NULL
try_cast('-2147483649' AS INT)                                int             NULL
try_cast('-2147483649' AS DOUBLE)                             double          -2147483649.0
try_cast('-2147483649' AS DECIMAL(8,2))                       decimal(8,2)    NULL
try_cast('9223372036854775807' AS INT)                        int             NULL
try_cast('9223372036854775807' AS DOUBLE)                     double          9.223372036854776e+18
try_cast('9223372036854775807' AS DECIMAL(8,2))               decimal(8,2)    NULL
try_cast('9223372036854775808' AS INT)                        int             NULL
try_cast('9223372036854775808' AS DOUBLE)                     double          9.223372036854776e+18
try_cast('9223372036854775808' AS DECIMAL(8,2))               decimal(8,2)    NULL
try_cast('999999.995' AS INT)                                 int             NULL
try_cast('999999.995' AS DOUBLE)                              double          999999.995
try_cast('999999.995' AS DECIMAL(8,2))                        decimal(8,2)    NULL
try_cast('1e37' AS INT)                                       int             NULL
try_cast('1e37' AS DOUBLE)                                    double          1e+37
try_cast('1e37' AS DECIMAL(8,2))                              decimal(8,2)    NULL
try_cast('99999999999999999999999999999999999999' AS INT)     int             NULL
try_cast('99999999999999999999999999999999999999' AS DOUBLE)  double          1e+38
try_cast('99999999999999999999999999999999999999' AS DECIMAL(8,2))  decimal(8,2)    NULL
try_cast('999999999999999999999999999999999999999' AS INT)    int             NULL
try_cast('999999999999999999999999999999999999999' AS DOUBLE)  double          1e+39
try_cast('999999999999999999999999999999999999999' AS DECIMAL(8,2))  decimal(8,2)    NULL
try_cast('0.00000000000000000000000000000000000005' AS INT)   int             NULL
try_cast('0.00000000000000000000000000000000000005' AS DOUBLE)  double          5e-38
try_cast('0.00000000000000000000000000000000000005' AS DECIMAL(8,2))  decimal(8,2)    0.00
try_cast('0e40' AS INT)                                       int             NULL
try_cast('0e40' AS DOUBLE)                                    double          0.0
try_cast('0e40' AS DECIMAL(8,2))                              decimal(8,2)    0.00
try_cast('-0' AS INT)                                         int             0
try_cast('-0' AS DOUBLE)                                      double          -0.0
try_cast('-0' AS DECIMAL(8,2))                                decimal(8,2)    0.00
try_cast('-0.0' AS INT)                                       int             NULL
try_cast('-0.0' AS DOUBLE)                                    double          -0.0
try_cast('-0.0' AS DECIMAL(8,2))                              decimal(8,2)    0.00
try_cast('1e-400' AS INT)                                     int             NULL
try_cast('1e-400' AS DOUBLE)                                  double          0.0
try_cast('1e-400' AS DECIMAL(8,2))                            decimal(8,2)    0.00
try_cast('4.9e-324' AS INT)                                   int             NULL
try_cast('4.9e-324' AS DOUBLE)                                double          5e-324
try_cast('4.9e-324' AS DECIMAL(8,2))                          decimal(8,2)    0.00
try_cast('2.5e-324' AS INT)                                   int             NULL
try_cast('2.5e-324' AS DOUBLE)                                double          5e-324
try_cast('2.5e-324' AS DECIMAL(8,2))                          decimal(8,2)    0.00
try_cast('1.7976931348623157e308' AS INT)                     int             NULL
try_cast('1.7976931348623157e308' AS DOUBLE)                  double          1.7976931348623157e+308
try_cast('1.7976931348623157e308' AS DECIMAL(8,2))            decimal(8,2)    NULL
try_cast('1.7976931348623159e308' AS INT)                     int             NULL
try_cast('1.7976931348623159e308' AS DOUBLE)                  double          Infinity
try_cast('1.7976931348623159e308' AS DECIMAL(8,2))            decimal(8,2)    NULL
try_cast('3.4028235e38' AS INT)                               int             NULL
try_cast('3.4028235e38' AS DOUBLE)                            double          3.4028235e+38
try_cast('3.4028235e38' AS DECIMAL(8,2))                      decimal(8,2)    NULL
try_cast('3.4028236e38' AS INT)                               int             NULL
try_cast('3.4028236e38' AS DOUBLE)                            double          3.4028236e+38
try_cast('3.4028236e38' AS DECIMAL(8,2))                      decimal(8,2)    NULL
try_cast('7.1e-46' AS INT)                                    int             NULL
try_cast('7.1e-46' AS DOUBLE)                                 double          7.1e-46
try_cast('7.1e-46' AS DECIMAL(8,2))                           decimal(8,2)    0.00
try_cast('7e-46' AS INT)                                      int             NULL
try_cast('7e-46' AS DOUBLE)                                   double          7e-46
try_cast('7e-46' AS DECIMAL(8,2))                             decimal(8,2)    0.00
try_cast('16777217' AS INT)                                   int             16777217
try_cast('16777217' AS DOUBLE)                                double          16777217.0
try_cast('16777217' AS DECIMAL(8,2))                          decimal(8,2)    NULL
try_cast('16777217.0000000000000000000000001' AS INT)         int             NULL
try_cast('16777217.0000000000000000000000001' AS DOUBLE)      double          16777217.0
try_cast('16777217.0000000000000000000000001' AS DECIMAL(8,2))  decimal(8,2)    NULL
try_cast('1.005' AS INT)                                      int             NULL
try_cast('1.005' AS DOUBLE)                                   double          1.005
try_cast('1.005' AS DECIMAL(8,2))                             decimal(8,2)    1.01
try_cast('-1.005' AS INT)                                     int             NULL
try_cast('-1.005' AS DOUBLE)                                  double          -1.005
try_cast('-1.005' AS DECIMAL(8,2))                            decimal(8,2)    -1.01
try_cast('--1' AS INT)                                        int             NULL
try_cast('--1' AS DOUBLE)                                     double          NULL
try_cast('--1' AS DECIMAL(8,2))                               decimal(8,2)    NULL
try_cast('1 2' AS INT)                                        int             NULL
try_cast('1 2' AS DOUBLE)                                     double          NULL
try_cast('1 2' AS DECIMAL(8,2))                               decimal(8,2)    NULL
try_cast('1,000' AS INT)                                      int             NULL
try_cast('1,000' AS DOUBLE)                                   double          NULL
try_cast('1,000' AS DECIMAL(8,2))                             decimal(8,2)    NULL
try_cast('$1' AS INT)                                         int             NULL
try_cast('$1' AS DOUBLE)                                      double          NULL
try_cast('$1' AS DECIMAL(8,2))                                decimal(8,2)    NULL
try_cast('' AS INT)                                           int             NULL
try_cast('' AS DOUBLE)                                        double          NULL
try_cast('' AS DECIMAL(8,2))                                  decimal(8,2)    NULL
try_cast(' ' AS INT)                                          int             NULL
try_cast(' ' AS DOUBLE)                                       double          NULL
try_cast(' ' AS DECIMAL(8,2))                                 decimal(8,2)    NULL
try_cast('\t12\n' AS INT)                                     int             12
try_cast('\t12\n' AS DOUBLE)                                  double          12.0
try_cast('\t12\n' AS DECIMAL(8,2))                            decimal(8,2)    12.00
try_cast('\u000012\u001F' AS INT)                             int             12
try_cast('\u000012\u001F' AS DOUBLE)                          double          12.0
try_cast('\u000012\u001F' AS DECIMAL(8,2))                    decimal(8,2)    12.00
try_cast('\u007F7\u007F' AS INT)                              int             7
try_cast('\u007F7\u007F' AS DOUBLE)                           double          NULL
try_cast('\u007F7\u007F' AS DECIMAL(8,2))                     decimal(8,2)    NULL
try_cast('\u00A01' AS INT)                                    int             NULL
try_cast('\u00A01' AS DOUBLE)                                 double          NULL
try_cast('\u00A01' AS DECIMAL(8,2))                           decimal(8,2)    NULL
try_cast('1\u3000' AS INT)                                    int             NULL
try_cast('1\u3000' AS DOUBLE)                                 double          NULL
try_cast('1\u3000' AS DECIMAL(8,2))                           decimal(8,2)    NULL
try_cast('127' AS TINYINT)                                    tinyint         127
try_cast('128' AS TINYINT)                                    tinyint         NULL
try_cast('-128' AS TINYINT)                                   tinyint         -128
try_cast('-129' AS TINYINT)                                   tinyint         NULL
try_cast('+7' AS TINYINT)                                     tinyint         7
try_cast('1.5' AS TINYINT)                                    tinyint         NULL
try_cast('32767' AS SMALLINT)                                 smallint        32767
try_cast('32768' AS SMALLINT)                                 smallint        NULL
try_cast('-32768' AS SMALLINT)                                smallint        -32768
try_cast('-32769' AS SMALLINT)                                smallint        NULL
try_cast('07' AS SMALLINT)                                    smallint        7
try_cast('9223372036854775807' AS BIGINT)                     bigint          9223372036854775807
try_cast('9223372036854775808' AS BIGINT)                     bigint          NULL
try_cast('-9223372036854775808' AS BIGINT)                    bigint          -9223372036854775808
try_cast('-9223372036854775809' AS BIGINT)                    bigint          NULL
try_cast('00000000000000000000000007' AS BIGINT)              bigint          7
try_cast('99999999999999999999999999' AS BIGINT)              bigint          NULL
try_cast('1e3' AS BIGINT)                                     bigint          NULL
try_cast('-' AS BIGINT)                                       bigint          NULL
try_cast('0.1' AS FLOAT)                                      float           0.10000000149011612
try_cast('16777217' AS FLOAT)                                 float           16777216.0
try_cast('16777217.0000000000000000000000001' AS FLOAT)       float           16777218.0
try_cast('16777216.9999999999999999999' AS FLOAT)             float           16777216.0
try_cast('3.4028235e38' AS FLOAT)                             float           3.4028234663852886e+38
try_cast('3.4028236e38' AS FLOAT)                             float           Infinity
try_cast('3.4028235677973366e38' AS FLOAT)                    float           3.4028234663852886e+38
try_cast('7.0e-46' AS FLOAT)                                  float           0.0
try_cast('7.1e-46' AS FLOAT)                                  float           1.401298464324817e-45
try_cast('1e39' AS FLOAT)                                     float           Infinity
try_cast('-1e39' AS FLOAT)                                    float           -Infinity
try_cast('nan' AS FLOAT)                                      float           NaN
try_cast('0x1.000001p0' AS FLOAT)                             float           1.0
try_cast('0x1.0000010000001p0' AS FLOAT)                      float           1.0000001192092896
try_cast('-0' AS FLOAT)                                       float           -0.0
try_cast('1.17549435e-38' AS FLOAT)                           float           1.1754943508222875e-38
try_cast('1d' AS FLOAT)                                       float           1.0
try_cast('x' AS FLOAT)                                        float           NULL
try_cast('99999999999999999999999999999999999999' AS DECIMAL(38,0))  decimal(38,0)   99999999999999999999999999999999999999
try_cast('999999999999999999999999999999999999999' AS DECIMAL(38,0))  decimal(38,0)   NULL
try_cast('1e37' AS DECIMAL(38,0))                             decimal(38,0)   10000000000000000000000000000000000000
try_cast('1e38' AS DECIMAL(38,0))                             decimal(38,0)   NULL
try_cast('0e38' AS DECIMAL(38,0))                             decimal(38,0)   0
try_cast('99999999999999999999.5' AS DECIMAL(38,0))           decimal(38,0)   100000000000000000000
try_cast('99999999999999999999999999999999999999.4' AS DECIMAL(38,0))  decimal(38,0)   99999999999999999999999999999999999999
try_cast('99999999999999999999999999999999999999.5' AS DECIMAL(38,0))  decimal(38,0)   NULL
try_cast('1e+0005' AS DECIMAL(38,0))                          decimal(38,0)   100000
try_cast('1e-0040' AS DECIMAL(38,0))                          decimal(38,0)   0
try_cast('0.000000000000000005' AS DECIMAL(38,18))            decimal(38,18)  0.000000000000000005
try_cast('0.0000000000000000005' AS DECIMAL(38,18))           decimal(38,18)  0.000000000000000001
try_cast('0.00000000000000000049999' AS DECIMAL(38,18))       decimal(38,18)  0.000000000000000000
try_cast('12345678901234567890.123456789012345678' AS DECIMAL(38,18))  decimal(38,18)  12345678901234567890.123456789012345678
try_cast('123456789012345678901' AS DECIMAL(38,18))           decimal(38,18)  NULL
try_cast('-0.0' AS DECIMAL(38,18))                            decimal(38,18)  0.000000000000000000

-- text to truth values
try_cast('true' AS BOOLEAN)                                   boolean         true
try_cast('TRUE' AS BOOLEAN)                                   boolean         true
try_cast('tRuE' AS BOOLEAN)                                   boolean         true
try_cast('t' AS BOOLEAN)                                      boolean         true
try_cast('T' AS BOOLEAN)                                      boolean         true
try_cast('yes' AS BOOLEAN)                                    boolean         true
try_cast('Y' AS BOOLEAN)                                      boolean         true
try_cast('1' AS BOOLEAN)                                      boolean         true
try_cast('false' AS BOOLEAN)                                  boolean         false
try_cast('F' AS BOOLEAN)                                      boolean         false
try_cast('no' AS BOOLEAN)                                     boolean         false
try_cast('N' AS BOOLEAN)                                      boolean         false
try_cast('0' AS BOOLEAN)                                      boolean         false
try_cast(' true\t' AS BOOLEAN)                                boolean         true
try_cast('\u0000no\u001F' AS BOOLEAN)                         boolean         false
try_cast('on' AS BOOLEAN)                                     boolean         NULL
try_cast('off' AS BOOLEAN)                                    boolean         NULL
try_cast('2' AS BOOLEAN)                                      boolean         NULL
try_cast('10' AS BOOLEAN)                                     boolean         NULL
try_cast('truee' AS BOOLEAN)                                  boolean         NULL
try_cast('' AS BOOLEAN)                                       boolean         NULL
try_cast('\u00A0true' AS BOOLEAN)                             boolean         NULL
try_cast('ye\u017F' AS BOOLEAN)                               boolean         NULL
try_cast('null' AS BOOLEAN)                                   boolean         NULL

-- columns of text
try_cast(s AS BOOLEAN)                                        boolean         NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | false
try_cast(s AS TINYINT)                                        tinyint         NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | 0
try_cast(s AS SMALLINT)                                       smallint        NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | 0
try_cast(s AS INT)                                            int             NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | 0
try_cast(s AS BIGINT)                                         bigint          NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | 0
try_cast(s AS FLOAT)                                          float           NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | 0.0
try_cast(s AS DOUBLE)                                         double          NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | 0.0
try_cast(s AS DECIMAL(5,2))                                   decimal(5,2)    NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | 0.00
try_cast(s AS DECIMAL(38,18))                                 decimal(38,18)  NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | 0.000000000000000000
try_cast(s AS BINARY)                                         binary          x'' | x'20' | x'61' | x'41' | NULL | x'616263' | x'414243' | x'2020706164200920' | x'c39f' | x'c589' | x'c4b0' | x'ce91cea3' | x'ce9fce94cea5cea3cea3ce95cea5cea320cea3ce91cea3' | x'c3a9' | x'65cc81' | x'f09f988078' | x'c2a06e62c2a0' | x'610062' | x'c785' | x'efac83' | x'efbfbf' | x'f0909080' | x'69742773205c20607160' | x'30'
try_cast(s AS DATE)                                           date            NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
try_cast(s AS TIMESTAMP)                                      timestamp       NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
try_cast(s AS TIMESTAMP_NTZ)                                  timestamp_ntz   NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
CAST('x' AS INT)                                              int             NULL
CAST('1.5' AS INT)                                            int             NULL
CAST('12' AS INT)                                             int             12
'7'::BIGINT                                                   bigint          7
CAST(NULL AS INT)                                             int             NULL
CAST('abc' AS DOUBLE)                                         double          NULL
CAST('1e400' AS DECIMAL(10,2))                                decimal(10,2)   NULL
CAST('maybe' AS BOOLEAN)                                      boolean         NULL
coalesce(CAST('x' AS INT), 5)                                 int             5
CAST(concat(CAST(i32 AS STRING), '0') AS BIGINT)              bigint          0 | 10 | NULL | -10 | 20 | -70 | 100 | 21474836470 | -21474836480 | 463410 | -655360 | 50 | 150 | 250 | -250 | 167772170 | 0 | 10 | NULL | -10 | 20 | -70 | 100 | 21474836470
CAST(CAST(i64 AS STRING) AS BIGINT)                           bigint          0 | 1 | -1 | NULL | 2 | -7 | 10 | 9223372036854775807 | -9223372036854775808 | 9007199254740993 | 3037000500 | -2147483649 | 25 | -9007199254740993 | 0 | 1 | -1 | NULL | 2 | -7 | 10 | 9223372036854775807 | -9223372036854775808 | 9007199254740993
CAST(CAST(d38_18 AS STRING) AS DECIMAL(38,18))                decimal(38,18)  0.000000000000000000 | 1.000000000000000000 | -1.500000000000000000 | 99999999999999999999.999999999999999999 | -99999999999999999999.999999999999999999 | 0.000000000000000001 | 0.500000000000000000 | 123.456000000000000000 | 3.000000000000000000 | -12345678901234567890.123456789012345678 | NULL | 0.000000000000000000 | 1.000000000000000000 | -1.500000000000000000 | 99999999999999999999.999999999999999999 | -99999999999999999999.999999999999999999 | 0.000000000000000001 | 0.500000000000000000 | 123.456000000000000000 | 3.000000000000000000 | -12345678901234567890.123456789012345678 | NULL | 0.000000000000000000 | 1.000000000000000000
CAST(CAST(b AS STRING) AS BOOLEAN)                            boolean         true | false | NULL | true | false | NULL | true | false | NULL | true | false | NULL | true | false | NULL | true | false | NULL | true | false | NULL | true | false | NULL
CAST(CAST(dt AS STRING) AS DATE)                              date            1970-01-01 | 1969-12-31 | 1970-01-02 | NULL | 2013-01-01 | 2000-02-29 | 2013-12-31 | 0001-01-01 | 9999-12-31 | 1582-10-15 | 1971-01-01 | 2024-02-29 | 2020-01-01 | 2023-01-01 | 2026-01-01 | 1970-01-01 | 1969-12-31 | 1970-01-02 | NULL | 2013-01-01 | 2000-02-29 | 2013-12-31 | 0001-01-01 | 9999-12-31
CAST(CAST(ts AS STRING) AS TIMESTAMP)                         timestamp       1970-01-01T00:00:00Z | 1969-12-31T23:59:59.999999Z | 1970-01-01T00:00:00.000001Z | 1970-01-01T00:00:00.999999Z | 1969-12-31T23:59:59Z | 1969-12-31T23:59:58.500000Z | NULL | 2013-03-10T06:59:59.999999Z | 2013-03-10T07:00:00Z | 2013-11-03T05:30:00Z | 2013-11-03T06:30:00Z | 2013-11-15T02:03:04.567890Z | 1883-11-18T17:00:00Z | 1900-01-01T00:00:00Z | 1582-10-15T00:00:00Z | 0001-01-01T00:00:00Z | 9999-12-31T23:59:59.999999Z | 2000-02-29T12:34:56Z | 2024-12-30T00:00:00Z | 2023-01-01T00:00:00Z | 1969-12-31T23:59:59Z | 2038-01-19T03:14:08Z | 2100-07-01T00:00:00Z | 1970-01-01T00:00:00Z
CAST(CAST(i8 AS STRING) AS DOUBLE)                            double          NULL | 0.0 | 1.0 | -1.0 | 2.0 | 7.0 | -7.0 | 127.0 | -128.0 | 100.0 | -100.0 | NULL | 0.0 | 1.0 | -1.0 | 2.0 | 7.0 | -7.0 | 127.0 | -128.0 | 100.0 | -100.0 | NULL | 0.0
