-- Recorded by `python -m tests.semantics.record` from Spark 4.3.0, JDK 17, ANSI true, session zone UTC.
-- Columns are those of tests/semantics/edges.py; their cases have one value for each of its rows.
-- three values
true AND NULL                  boolean  NULL
false AND NULL                 boolean  false
NULL AND false                 boolean  false
NULL AND NULL                  boolean  NULL
true OR NULL                   boolean  true
NULL OR true                   boolean  true
false OR NULL                  boolean  NULL
NULL OR NULL                   boolean  NULL
NOT NULL                       boolean  NULL
NOT true                       boolean  false
NOT b                          boolean  false | true | NULL | false | true | NULL | false | true | NULL | false | true | NULL | false | true | NULL | false | true | NULL | false | true | NULL | false | true | NULL
b AND b_b                      boolean  NULL | false | false | NULL | false | false | NULL | false | false | NULL | false | false | NULL | false | false | NULL | false | false | NULL | false | false | NULL | false | false
b OR b_b                       boolean  true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL
NOT (b AND b_b)                boolean  NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true
NOT b OR b_b                   boolean  NULL | true | NULL | NULL | true | NULL | NULL | true | NULL | NULL | true | NULL | NULL | true | NULL | NULL | true | NULL | NULL | true | NULL | NULL | true | NULL
! b                            boolean  false | true | NULL | false | true | NULL | false | true | NULL | false | true | NULL | false | true | NULL | false | true | NULL | false | true | NULL | false | true | NULL
b AND i32 > 0                  boolean  false | false | NULL | false | false | false | true | false | false | true | false | NULL | true | false | false | true | false | NULL | NULL | false | NULL | false | false | NULL
(1/0 = 1) AND false            boolean  false
false AND (1/0 = 1)            boolean  false
true OR (1/0 = 1)              boolean  true
(1/0 = 1) OR true              boolean  true
NOT (1/0 = 1)                  boolean  NULL

-- NULL is not NaN, not zero, not the empty string
i32 IS NULL                    boolean  false | false | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false
f64 IS NULL                    boolean  false | false | false | false | false | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s IS NULL                      boolean  false | false | false | false | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
b IS NULL                      boolean  false | false | true | false | false | true | false | false | true | false | false | true | false | false | true | false | false | true | false | false | true | false | false | true
ts IS NULL                     boolean  false | false | false | false | false | false | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
i64 IS NOT NULL                boolean  true | true | true | false | true | true | true | true | true | true | true | true | true | true | true | true | true | false | true | true | true | true | true | true
f32 IS NOT NULL                boolean  true | true | true | true | false | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | false | true
s IS NOT NULL                  boolean  true | true | true | true | false | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
dt IS NOT NULL                 boolean  true | true | true | false | true | true | true | true | true | true | true | true | true | true | true | true | true | true | false | true | true | true | true | true
d5_2 IS NOT NULL               boolean  true | true | true | true | true | true | false | true | true | true | true | true | true | true | true | true | true | true | false | true | true | true | true | true
NULL IS NULL                   boolean  true
NULL IS NOT NULL               boolean  false
1/0 IS NULL                    boolean  true
isnull(f64)                    boolean  false | false | false | false | false | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
isnotnull(s)                   boolean  true | true | true | true | false | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
f64 + f64_b IS NULL            boolean  true | false | false | false | false | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false

-- precedence
1 + 2 * 3                      int      7
(1 + 2) * 3                    int      9
2 * 3 % 4                      int      2
7 - 2 - 1                      int      4
100 / 10 / 5                   double   2.0
-2 * 3                         int      -6
- 2 - -2                       int      0
NOT true AND false             boolean  false
NOT (true AND false)           boolean  true
true OR false AND false        boolean  true
NOT 1 = 2                      boolean  true
1 = 1 = true                   boolean  true
1 < 2 = true                   boolean  true
true = (1 < 2)                 boolean  true
b = b_b IS NULL                boolean  true | false | true | true | false | true | true | false | true | true | false | true | true | false | true | true | false | true | true | false | true | true | false | true
b = b_b < b                    boolean  NULL | false | NULL | NULL | false | NULL | NULL | false | NULL | NULL | false | NULL | NULL | false | NULL | NULL | false | NULL | NULL | false | NULL | NULL | false | NULL
i32 = 1 IS NOT NULL            boolean  true | true | false | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | false | true | true | true | true | true
NOT i32 IS NULL                boolean  true | true | false | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | false | true | true | true | true | true
i32 + 1 BETWEEN 1 AND 2 AND b  boolean  true | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | NULL | NULL | false | false | false | false | NULL
i32 BETWEEN 0 AND 1 OR b       boolean  true | true | NULL | true | false | NULL | true | false | NULL | true | false | NULL | true | false | NULL | true | true | true | true | false | NULL | true | false | NULL
1 + 1 IN (2)                   boolean  true
7 div 2 * 2                    bigint   6
7 % 4 div 2                    bigint   1
-i32 + i32_b                   int      -7 | 9 | NULL | -2147483647 | 46339 | -65529 | -5 | -2147483632 | NULL | -46366 | 16842753 | -5 | -14 | NULL | 24 | -16777215 | -7 | 9 | NULL | -2147483647 | 46339 | -65529 | -5 | -2147483632
i32 - -i32_b                   int      -7 | 11 | NULL | NULL | 46343 | -65543 | 15 | NULL | -2147483623 | 46316 | 16711681 | 5 | 16 | NULL | -26 | 16777219 | -7 | 11 | NULL | NULL | 46343 | -65543 | 15 | NULL
b OR b_b AND NOT b             boolean  true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL | true | true | NULL
s || 'x' = s                   boolean  false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
'a' || 'b' || 'c'              string   "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc"
2147483647 + 1 IS NULL         boolean  true
