-- Recorded by `python -m tests.semantics.record` from Spark 4.3.0, JDK 17, ANSI true, session zone UTC.
-- Columns are those of tests/semantics/edges.py; their cases have one value for each of its rows.
-- What docs/functions.md shows
7 - 10                                                        int                                  -3
2 * 3                                                         int                                  6
3 <> 4                                                        boolean                              true
'b' >= 'a'                                                    boolean                              true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
2 <= 2                                                        boolean                              true
'a' < 'B'                                                     boolean                              false
2 > 1                                                         boolean                              true
NULL <=> NULL                                                 boolean                              true
2 IN (1, 2, 3)                                                boolean                              true
isnull(1/0)                                                   boolean                              true
isnotnull(0)                                                  boolean                              true
coalesce(NULL, 'none')                                        string                               "none"
15 BETWEEN 10 AND 20                                          boolean                              true
if(3 > 2, 'more', 'less')                                     string                               "more"
CASE WHEN 3 > 5 THEN 'high' WHEN 3 > 1 THEN 'middle' ELSE 'low' END  string                               "middle"
CAST('12' AS INT)                                             int                                  12
nullif(0, 0)                                                  int                                  NULL
nvl2(NULL, 'known', 'unknown')                                string                               "unknown"
zeroifnull(CAST(NULL AS INT))                                 int                                  0
nullifzero(0)                                                 int                                  NULL
decode(2, 1, 'one', 2, 'two', 'many')                         string                               "two"
elt(2, 'a', 'b')                                              string                               "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b"
exp(1)                                                        double                               2.7182818284590455
pow(2, 10)                                                    double                               1024.0
expm1(1e-10D)                                                 double                               1.00000000005e-10
asin(1)                                                       double                               1.5707963267948966
acos(-1)                                                      double                               3.141592653589793
atan(1)                                                       double                               0.7853981633974483
atan2(1, -1)                                                  double                               2.356194490192345
sinh(1)                                                       double                               1.1752011936438014
cosh(1)                                                       double                               1.543080634815244
asinh(1)                                                      double                               0.881373587019543
acosh(2)                                                      double                               1.3169578969248166
sin(1)                                                        double                               0.8414709848078965
cos(1)                                                        double                               0.5403023058681398
tan(1)                                                        double                               1.557407724654902
cot(1)                                                        double                               0.6420926159343308
sec(1)                                                        double                               1.8508157176809255
csc(1)                                                        double                               1.1883951057781212
tanh(0.5D)                                                    double                               0.46211715726000974
cbrt(27)                                                      double                               3.0
signum(-2.5D)                                                 double                               -1.0
bround(2.5D)                                                  double                               2.0
factorial(5)                                                  bigint                               120
nanvl(CAST('NaN' AS DOUBLE), 0.0D)                            double                               0.0
bin(10)                                                       string                               "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010" | "1010"
5 & 3                                                         int                                  1
5 | 3                                                         int                                  7
5 ^ 3                                                         int                                  6
1 << 4                                                        int                                  16
-8 >> 1                                                       int                                  -4
-1 >>> 28                                                     int                                  15
width_bucket(35, 0, 100, 10)                                  bigint                               4
haversine(40.64D, -73.78D, 51.48D, -0.45D)                    double                               5540.175274588566
cosine_similarity(array(1.0D, 0.0D), array(1.0D, 1.0D))       double                               0.7071067811865475
l2_norm(array(3.0D, 4.0D))                                    double                               5.0
lower('ABC')                                                  string                               "abc"
upper('abc')                                                  string                               "ABC"
initcap('new york')                                           string                               "New York"
trim(' a b ')                                                 string                               "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b" | "a b"
ltrim(' a ')                                                  string                               "a "
rtrim(' a ')                                                  string                               " a"
btrim('xxaxx', 'x')                                           string                               "a"
TRIM(LEADING '0' FROM '0070')                                 string                               "70"
TRIM(TRAILING '0' FROM '0070')                                string                               "007"
length('😀é')                                                  int                                  2
octet_length('😀é')                                            int                                  6
concat('a', '-', 'b')                                         string                               "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b"
concat_ws('-', 'a', NULL, 'b')                                string                               "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b"
substring('flight', 2, 3)                                     string                               "lig"
left('N39463', 1)                                             string                               "N"
right('N39463', 2)                                            string                               "63"
lpad('7', 3, '0')                                             string                               "007"
replace('a-b-c', '-', '')                                     string                               "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc"
translate('AB-12', '12', 'xy')                                string                               "AB-xy"
instr('flight', 'i')                                          int                                  3
locate('i', 'flight')                                         int                                  3
substring_index('a.b.c', '.', 2)                              string                               "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b"
split_part('EWR-LAX', '-', 2)                                 string                               "LAX"
levenshtein('kitten', 'sitting')                              int                                  3
startswith('UA1545', 'UA')                                    boolean                              true
contains('UA1545', '15')                                      boolean                              true
soundex('Robert')                                             string                               "R163"
reverse('abc')                                                string                               "cba"
'UA1545' LIKE 'UA%'                                           boolean                              true
'N558UA' RLIKE '^N[0-9]+[A-Z]*$'                              boolean                              true
regexp_extract('N558UA', '[A-Z]+$', 0)                        string                               "UA"
regexp_extract_all('a1b22', '[0-9]+', 0)                      array<string>                        ["1", "22"]
regexp_replace('a1b22', '[0-9]+', '#')                        string                               "a#b#"
regexp_substr('a1b22', '[0-9]+')                              string                               "1"
regexp_count('a1b22', '[0-9]+')                               int                                  2
split('a, b,c', ', *')                                        array<string>                        ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"] | ["a", "b", "c"]
json_string('{"a": {"b": "x"}}', '$.a.b')                     string                               "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x"
json_bigint('{"n": 7}', '$.n')                                bigint                               7
json_double('{"n": 1.5}', '$.n')                              double                               1.5
json_object_keys('{"a": 1, "b": 2}')                          array<string>                        ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"]
json_array_length('[1, 2]')                                   int                                  2
hash('UA', 1545)                                              int                                  1388081303
xxhash64('UA', 1545)                                          bigint                               -2171716680208700726
cross_hash(1000, 'UA', 'EWR', 'LAX')                          int                                  396
hash_bucket('N39463', 100)                                    int                                  13
md5('abc')                                                    string                               "900150983cd24fb0d6963f7d28e17f72"
crc32('abc')                                                  bigint                               891568578
hour(TIMESTAMP '2013-11-15T13:30:00Z')                        int                                  13
minute(TIMESTAMP '2013-11-15T13:30:00Z')                      int                                  30
second(TIMESTAMP '2013-11-15T13:30:59Z')                      int                                  59
year(DATE '2013-11-15')                                       int                                  2013
quarter(DATE '2013-11-15')                                    int                                  4
month(DATE '2013-11-15')                                      int                                  11
day(DATE '2013-11-15')                                        int                                  15
weekday(DATE '2013-11-15')                                    int                                  4
EXTRACT(DOW FROM DATE '2013-11-15')                           int                                  6
DATE '2013-11-15' + 7                                         date                                 2013-11-22
DATE '2013-11-15' - 7                                         date                                 2013-11-08
timestampadd(HOUR, 2, TIMESTAMP '2013-11-15T23:00:00Z')       timestamp                            2013-11-16T01:00:00Z
trunc(DATE '2013-11-15', 'month')                             date                                 2013-11-01
date_trunc('hour', TIMESTAMP '2013-11-15T13:30:00Z')          timestamp                            2013-11-15T13:00:00Z
timestampdiff(MONTH, DATE '2013-01-31', DATE '2013-11-15')    bigint                               9
months_between(DATE '2013-11-15', DATE '2013-10-01')          double                               1.4516129
unix_timestamp(TIMESTAMP '2013-11-15T00:00:00Z')              bigint                               1384473600
unix_millis(TIMESTAMP '1970-01-01T00:00:01Z')                 bigint                               1000
unix_micros(TIMESTAMP '1970-01-01T00:00:01Z')                 bigint                               1000000
make_date(2013, 11, 15)                                       date                                 2013-11-15
to_date('15.11.2013', 'dd.MM.yyyy')                           date                                 2013-11-15
to_timestamp('2013-11-15 02:00')                              timestamp                            2013-11-15T02:00:00Z
date_format(DATE '2013-11-15', 'EEEE d MMMM')                 string                               "Friday 15 November"
from_unixtime(0)                                              string                               "1970-01-01 00:00:00"
from_utc_timestamp(TIMESTAMP '2013-11-15T13:30:00Z', 'Asia/Tokyo')  timestamp                            2013-11-15T22:30:00Z
to_utc_timestamp(TIMESTAMP '2013-11-15T13:30:00Z', 'Asia/Tokyo')  timestamp                            2013-11-15T04:30:00Z
array(1, 2, 3)                                                array<int>                           [1, 2, 3]
sequence(1, 5)                                                array<int>                           [1, 2, 3, 4, 5]
array_repeat('a', 2)                                          array<string>                        ["a", "a"]
size(array(1, NULL))                                          int                                  2
array('a', 'b')[0]                                            string                               "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a"
element_at(array(1, 2, 3), -1)                                int                                  3
slice(array(1, 2, 3, 4), 2, 2)                                array<int>                           [2, 3]
array_contains(array(1, 2), 2)                                boolean                              true
array_position(array('a', 'b'), 'b')                          bigint                               2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2
arrays_overlap(array(1, 2), array(2, 3))                      boolean                              true
array_min(array(3, 1, NULL))                                  int                                  1
array_max(array(3, 1, NULL))                                  int                                  3
array_distinct(array(1, 2, 1))                                array<int>                           [1, 2]
array_union(array(1, 2), array(2, 3))                         array<int>                           [1, 2, 3]
array_intersect(array(1, 2), array(2, 3))                     array<int>                           [2]
array_except(array(1, 2), array(2, 3))                        array<int>                           [1]
array_remove(array(1, 2, 1), 1)                               array<int>                           [2]
array_append(array(1), 2)                                     array<int>                           [1, 2]
array_prepend(array(1), 0)                                    array<int>                           [0, 1]
array_insert(array(1, 3), 2, 2)                               array<int>                           [1, 2, 3]
array_compact(array(1, NULL))                                 array<int>                           [1]
flatten(array(array(1), array(2, 3)))                         array<int>                           [1, 2, 3]
sort_array(array(2, NULL, 1))                                 array<int>                           [NULL, 1, 2]
array_sort(array(2, NULL, 1))                                 array<int>                           [1, 2, NULL]
array_join(array('a', NULL, 'b'), '-')                        string                               "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b" | "a-b"
transform(array(1, 2), x -> x * 10)                           array<int>                           [10, 20]
filter(array(5, 20, 30), x -> x > 15)                         array<int>                           [20, 30]
exists(array(5, 20), x -> x > 15)                             boolean                              true
forall(array(5, 20), x -> x > 15)                             boolean                              false
aggregate(array(1, 2, 3), 0, (acc, x) -> acc + x)             int                                  6
zip_with(array(1, 2), array(10, 20), (x, y) -> x + y)         array<int>                           [11, 22]
map('a', 1)['a']                                              int                                  1
map('a', 1, 'b', 2)                                           map<string,int>                      {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2}
map_keys(map('a', 1))                                         array<string>                        ["a"]
map_values(map('a', 1))                                       array<int>                           [1]
map_entries(map('a', 1))                                      array<struct<key:string,value:int>>  [("a", 1)]
map_from_arrays(array('a', 'b'), array(1, 2))                 map<string,int>                      {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2}
map_from_entries(array(struct('a', 1)))                       map<string,int>                      {"a": 1}
map_concat(map('a', 1), map('b', 2))                          map<string,int>                      {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2} | {"a": 1, "b": 2}
map_contains_key(map('a', 1), 'a')                            boolean                              true
map_filter(map('a', 1, 'b', 2), (k, v) -> v > 1)              map<string,int>                      {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2} | {"b": 2}
transform_keys(map('a', 1), (k, v) -> upper(k))               map<string,int>                      {"A": 1}
transform_values(map('a', 1), (k, v) -> v + 1)                map<string,int>                      {"a": 2}
str_to_map('a:1,b:2')                                         map<string,string>                   {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"} | {"a": "1", "b": "2"}
named_struct('lat', 40.64D, 'lon', -73.78D)                   struct<lat:double,lon:double>        (40.64, -73.78)
struct(1, 'a')                                                struct<col1:int,col2:string>         (1, "a")
named_struct('lat', 40.64D).lat                               double                               40.64
