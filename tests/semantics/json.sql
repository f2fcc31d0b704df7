-- Recorded by `python -m tests.semantics.record` from Spark 4.3.0, JDK 17, ANSI true, session zone UTC.
-- Columns are those of tests/semantics/edges.py; their cases have one value for each of its rows.
-- the text at a path: integers, true and false as they are written, objects and arrays without spaces
json_string('{"a":"x"}', '$.a')                               string         "x"
json_string('{"a":""}', '$.a')                                string         ""
json_string('{"a":1}', '$.a')                                 string         "1"
json_string('{"a":-0}', '$.a')                                string         "0"
json_string('{"a":12345678901234567890123}', '$.a')           string         "12345678901234567890123"
json_string('{"a":true,"b":false}', '$.b')                    string         "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false" | "false"
json_string('{"a":null}', '$.a')                              string         NULL
json_string('{"b":1}', '$.a')                                 string         NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
json_string('{"a":[null]}', '$.a[0]')                         string         "null"
json_string('{"a":{"b":"x"}}', '$.a.b')                       string         "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x" | "x"
json_string('{"a":{"b":null}}', '$.a')                        string         "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}" | "{\"b\":null}"
json_string('{"a": { "b" : [1, 2 , "x y"] } }', '$.a')        string         "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}" | "{\"b\":[1,2,\"x y\"]}"
json_string('{"a":{}, "b":[]}', '$.a')                        string         "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}" | "{}"
json_string('{"a":{}, "b":[]}', '$.b')                        string         "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]" | "[]"
json_string('[1,{"a":"x"}]', '$[1].a')                        string         "x"
json_string('[1,{"a":"x"}]', '$[2]')                          string         NULL
json_string('[[1,2],[3]]', '$[0][1]')                         string         "2"
json_string('{"a b":{"c":1}}', '$[\'a b\'].c')                string         "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1" | "1"
json_string('{"A":1}', '$.a')                                 string         NULL
json_string(NULL, '$.a')                                      string         NULL
json_string(s, '$.a')                                         string         NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
json_string(concat('{"a":"', s, '"}'), '$.a')                 string         "" | " " | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | NULL | "0"
json_string(concat('{"a":["', s, '"]}'), '$.a')               string         "[\"\"]" | "[\" \"]" | "[\"a\"]" | "[\"A\"]" | NULL | "[\"abc\"]" | "[\"ABC\"]" | "[\"  pad \\t \"]" | "[\"\xdf\"]" | "[\"\u0149\"]" | "[\"\u0130\"]" | "[\"\u0391\u03a3\"]" | "[\"\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3\"]" | "[\"\xe9\"]" | "[\"e\u0301\"]" | "[\"\\uD83D\\uDE00x\"]" | "[\"\xa0nb\xa0\"]" | "[\"a\\u0000b\"]" | "[\"\u01c5\"]" | "[\"\ufb03\"]" | "[\"\uffff\"]" | "[\"\\uD801\\uDC00\"]" | NULL | "[\"0\"]"
json_string(concat('[', CAST(i64 AS STRING), ',', CAST(b AS STRING), ']'), '$[0]')  string         "0" | "1" | NULL | NULL | "2" | NULL | "10" | "9223372036854775807" | NULL | "9007199254740993" | "3037000500" | NULL | "25" | "-9007199254740993" | NULL | "1" | "-1" | NULL | "2" | "-7" | NULL | "9223372036854775807" | "-9223372036854775808" | NULL
json_string(concat('[', CAST(i64 AS STRING), ',', CAST(b AS STRING), ']'), '$[1]')  string         "true" | "false" | NULL | NULL | "false" | NULL | "true" | "false" | NULL | "true" | "false" | NULL | "true" | "false" | NULL | "true" | "false" | NULL | "true" | "false" | NULL | "true" | "false" | NULL
-- of two members of one name the first that has something at the path
json_string('{"a":1,"a":2}', '$.a')                           string         "1"
json_string('{"a":null,"a":2}', '$.a')                        string         "2"
json_string('{"a":1,"a":{"b":2}}', '$.a.b')                   string         "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2"
json_string('{"a":{"b":1,"b":2}}', '$.a')                     string         "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}" | "{\"b\":1,\"b\":2}"
-- escapes
json_string(r'{"a":"x\n\u00e9\/\\\""}', '$.a')                string         "x\n\xe9/\\\""
json_string(r'{"a":["x\n\u00e9\/\\\""]}', '$.a')              string         "[\"x\\n\xe9/\\\\\\\"\"]"
json_string(r'{"a":"\ud83d\ude00"}', '$.a')                   string         "\U0001f600"
json_string(r'{"a":["\ud83d\ude00"]}', '$.a')                 string         "[\"\\uD83D\\uDE00\"]"
json_string(r'{"a":"\ud83d"}', '$.a')                         string         NULL
json_string(r'{"a":["\ud83d"]}', '$.a')                       string         "[\"\\uD83D\"]"
json_string(r'{"a":["\u0000\u001f\u007f\u0080"]}', '$.a')     string         "[\"\\u0000\\u001F\x7f\x80\"]"
json_string('{"a":["é😀\u2028"]}', '$.a')                      string         "[\"\xe9\\uD83D\\uDE00\u2028\"]"
json_string(r'{"\u0061":1}', '$.a')                           string         "1"
json_string(r'{"a":"\x"}', '$.a')                             string         NULL
json_string('{"a":"tab\there"}', '$.a')                       string         "tab\there"
json_string('{"a":["tab\there"]}', '$.a')                     string         "[\"tab\\there\"]"
json_string("{'a':'x'}", '$.a')                               string         "x"
json_string("{'a':'say \"it\"'}", '$.a')                      string         "say \"it\""
-- what is not JSON is NULL, but what follows the value is not looked at
json_string('{"a":1}x', '$.a')                                string         "1"
json_string('{"a":1}}', '$.a')                                string         "1"
json_string('x{"a":1}', '$.a')                                string         NULL
json_string('', '$.a')                                        string         NULL
json_string('{"a":1', '$.a')                                  string         NULL
json_string('{"a":1,}', '$.a')                                string         NULL
json_string('{"a":[1,]}', '$.a')                              string         NULL
json_string('{"a":1,"b":x}', '$.a')                           string         NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
json_string('{a:1}', '$.a')                                   string         NULL
json_string('{"a":01}', '$.a')                                string         NULL
json_string('{"a":+1}', '$.a')                                string         NULL
json_string('{"a":.5}', '$.a')                                string         NULL
json_string('{"a":5.}', '$.a')                                string         NULL
json_string('{"a":NaN}', '$.a')                               string         NULL
json_string('{"a":tRue}', '$.a')                              string         NULL
json_string('{"a":/* */1}', '$.a')                            string         NULL
json_string('\ufeff{"a":1}', '$.a')                           string         NULL
json_string('{"a":\u00a01}', '$.a')                           string         NULL
json_string('1', '$.a')                                       string         NULL
-- a fraction has no text: Javas print it differently; text that looks like one has none either
json_string('{"a":1.5}', '$.a')                               string         NULL
json_string('{"a":1e2}', '$.a')                               string         NULL
json_string('{"a":[1,2.5]}', '$.a')                           string         NULL
json_string('{"a":[2.5]}', '$.a')                             string         NULL
json_string('{"a":{"b":-2.5}}', '$.a')                        string         NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
json_string('{"a":{"b":2}}', '$.a')                           string         "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}" | "{\"b\":2}"
json_string('{"a":"1.50"}', '$.a')                            string         NULL
json_string('{"a":"v1.50"}', '$.a')                           string         "v1.50"
json_string('{"a":"1.50 EUR"}', '$.a')                        string         "1.50 EUR"
json_string('{"a":"[1.50]"}', '$.a')                          string         NULL
json_string('{"a":["1.50"]}', '$.a')                          string         "[\"1.50\"]"
json_string('{"a":1e999}', '$.a')                             string         "\"Infinity\""
-- numbers, also those that stand in text
json_double('{"a":1.5}', '$.a')                               double         1.5
json_double('{"a":1}', '$.a')                                 double         1.0
json_double('{"a":-0.0}', '$.a')                              double         -0.0
json_double('{"a":-0}', '$.a')                                double         0.0
json_double('{"a":1e2}', '$.a')                               double         100.0
json_double('{"a":2E-3}', '$.a')                              double         0.002
json_double('{"a":8.41e21}', '$.a')                           double         8.41e+21
json_double('{"a":2.2250738585072011e-308}', '$.a')           double         2.225073858507201e-308
json_double('{"a":5e-324}', '$.a')                            double         5e-324
json_double('{"a":1e-400}', '$.a')                            double         0.0
json_double('{"a":1e999}', '$.a')                             double         NULL
json_double('{"a":12345678901234567890.123456789012345678901}', '$.a')  double         1.2345678901234567e+19
json_double('{"a":"1.5"}', '$.a')                             double         1.5
json_double('{"a":" 1.5"}', '$.a')                            double         NULL
json_double('{"a":"1.5d"}', '$.a')                            double         NULL
json_double('{"a":"NaN"}', '$.a')                             double         NULL
json_double('{"a":"1E400"}', '$.a')                           double         Infinity
json_double('{"a":true}', '$.a')                              double         NULL
json_double('{"a":[1.5]}', '$.a')                             double         NULL
json_double('{"a":[1.5]}', '$.a[0]')                          double         1.5
json_double(NULL, '$.a')                                      double         NULL
json_double(concat('{"a":', CAST(i64 AS STRING), '}'), '$.a')  double         0.0 | 1.0 | -1.0 | NULL | 2.0 | -7.0 | 10.0 | 9.223372036854776e+18 | -9.223372036854776e+18 | 9007199254740992.0 | 3037000500.0 | -2147483649.0 | 25.0 | -9007199254740992.0 | 0.0 | 1.0 | -1.0 | NULL | 2.0 | -7.0 | 10.0 | 9.223372036854776e+18 | -9.223372036854776e+18 | 9007199254740992.0
json_double(concat('{"a":', CAST(d38_18 AS STRING), '}'), '$.a')  double         0.0 | 1.0 | -1.5 | 1e+20 | -1e+20 | 1e-18 | 0.5 | 123.456 | 3.0 | -1.2345678901234567e+19 | NULL | 0.0 | 1.0 | -1.5 | 1e+20 | -1e+20 | 1e-18 | 0.5 | 123.456 | 3.0 | -1.2345678901234567e+19 | NULL | 0.0 | 1.0
json_double(s, '$.a')                                         double         NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
json_bigint('{"a":1}', '$.a')                                 bigint         1
json_bigint('{"a":-9223372036854775808}', '$.a')              bigint         -9223372036854775808
json_bigint('{"a":9223372036854775808}', '$.a')               bigint         NULL
json_bigint('{"a":1.0}', '$.a')                               bigint         NULL
json_bigint('{"a":1e2}', '$.a')                               bigint         NULL
json_bigint('{"a":"42"}', '$.a')                              bigint         42
json_bigint('{"a":"042"}', '$.a')                             bigint         42
json_bigint('{"a":"4 2"}', '$.a')                             bigint         NULL
json_bigint('{"a":-0}', '$.a')                                bigint         0
json_bigint('{"a":null}', '$.a')                              bigint         NULL
json_bigint(NULL, '$.a')                                      bigint         NULL
json_bigint(concat('{"a":', CAST(i64 AS STRING), '}'), '$.a')  bigint         0 | 1 | -1 | NULL | 2 | -7 | 10 | 9223372036854775807 | -9223372036854775808 | 9007199254740993 | 3037000500 | -2147483649 | 25 | -9007199254740993 | 0 | 1 | -1 | NULL | 2 | -7 | 10 | 9223372036854775807 | -9223372036854775808 | 9007199254740993
json_bigint(concat('[', CAST(d38_0 AS STRING), ']'), '$[0]')  bigint         0 | 1 | -1 | NULL | NULL | 9223372036854775807 | NULL | NULL | NULL | NULL | 3 | 7 | 0 | 1 | -1 | NULL | NULL | 9223372036854775807 | NULL | NULL | NULL | NULL | 3 | 7
json_boolean('{"a":true}', '$.a')                             boolean        true
json_boolean('{"a":false}', '$.a')                            boolean        false
json_boolean('{"a":"true"}', '$.a')                           boolean        true
json_boolean('{"a":"TRUE"}', '$.a')                           boolean        NULL
json_boolean('{"a":1}', '$.a')                                boolean        NULL
json_boolean('{"a":null}', '$.a')                             boolean        NULL
json_boolean(NULL, '$.a')                                     boolean        NULL
json_boolean(concat('{"a":', CAST(b AS STRING), '}'), '$.a')  boolean        true | false | NULL | true | false | NULL | true | false | NULL | true | false | NULL | true | false | NULL | true | false | NULL | true | false | NULL | true | false | NULL
-- arrays and objects
json_array_length('[1,2,3]')                                  int            3
json_array_length('[]')                                       int            0
json_array_length('[[1,2],{"a":[]},"x",null]')                int            4
json_array_length('{"a":1}')                                  int            NULL
json_array_length('[1,2')                                     int            NULL
json_array_length('[1,2]]')                                   int            2
json_array_length('[1,,2]')                                   int            NULL
json_array_length('')                                         int            NULL
json_array_length(NULL)                                       int            NULL
json_array_length(s)                                          int            NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
json_array_length(concat('["', s, '"]'))                      int            1 | 1 | 1 | 1 | NULL | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | NULL | 1
json_object_keys('{"b":1,"a":{"c":2}}')                       array<string>  ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"] | ["b", "a"]
json_object_keys('{}')                                        array<string>  []
json_object_keys('{"a":1,"a":2}')                             array<string>  ["a", "a"]
json_object_keys("{'a':1}")                                   array<string>  ["a"]
json_object_keys(r'{"a\u0062\n":1}')                          array<string>  ["ab\n"]
json_object_keys(r'{"\ud83d":1}')                             array<string>  ["?"]
json_object_keys('[1]')                                       array<string>  NULL
json_object_keys('{"a":1')                                    array<string>  NULL
json_object_keys('{"a":1}x')                                  array<string>  ["a"]
json_object_keys('')                                          array<string>  NULL
json_object_keys(NULL)                                        array<string>  NULL
json_object_keys(concat('{"', s, '":1}'))                     array<string>  [""] | [" "] | ["a"] | ["A"] | NULL | ["abc"] | ["ABC"] | ["  pad \t "] | ["\xdf"] | ["\u0149"] | ["\u0130"] | ["\u0391\u03a3"] | ["\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3"] | ["\xe9"] | ["e\u0301"] | ["\U0001f600x"] | ["\xa0nb\xa0"] | ["a\x00b"] | ["\u01c5"] | ["\ufb03"] | ["\uffff"] | ["\U00010400"] | NULL | ["0"]
-- only the whole text is a number: a line's end after it is not
json_string(r'{"a":"1.50\n"}', '$.a')                         string         "1.50\n"
json_double(r'{"a":"1.50\n"}', '$.a')                         double         NULL
json_bigint(r'{"a":"42\n"}', '$.a')                           bigint         NULL
