-- Recorded by `python -m tests.semantics.record` from Spark 4.3.0, JDK 17, ANSI true, session zone UTC.
-- Columns are those of tests/semantics/edges.py; their cases have one value for each of its rows.
-- case by the JVM's tables; ß grows, final sigma depends on its place
lower(s)                                     string  "" | " " | "a" | "a" | NULL | "abc" | "abc" | "  pad \t " | "\xdf" | "\u0149" | "i\u0307" | "\u03b1\u03c2" | "\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03c3\u03b1\u03c2" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c6" | "\ufb03" | "\uffff" | "\U00010428" | "it's \\ `q`" | "0"
upper(s)                                     string  "" | " " | "A" | "A" | NULL | "ABC" | "ABC" | "  PAD \t " | "SS" | "\u02bcN" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xc9" | "E\u0301" | "\U0001f600X" | "\xa0NB\xa0" | "A\x00B" | "\u01c4" | "FFI" | "\uffff" | "\U00010400" | "IT'S \\ `Q`" | "0"
lcase(s)                                     string  "" | " " | "a" | "a" | NULL | "abc" | "abc" | "  pad \t " | "\xdf" | "\u0149" | "i\u0307" | "\u03b1\u03c2" | "\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03c3\u03b1\u03c2" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c6" | "\ufb03" | "\uffff" | "\U00010428" | "it's \\ `q`" | "0"
ucase('straße')                              string  "STRASSE"
lower('ΑΣ')                                  string  "\u03b1\u03c2"
lower('ΑΣ.')                                 string  "\u03b1\u03c2."
lower('ΑΣΑ')                                 string  "\u03b1\u03c3\u03b1"
lower('Σ')                                   string  "\u03c3"
lower('ΣΣ')                                  string  "\u03c3\u03c2"
lower('Α\'Σ')                                string  "\u03b1'\u03c2"
lower('ΑΣ\u0301')                            string  "\u03b1\u03c2\u0301"
lower('ΑΣ 1')                                string  "\u03b1\u03c2 1"
lower('İSTANBUL')                            string  "i\u0307stanbul"
lower('ΣİΣ')                                 string  "\u03c3i\u0307\u03c2"
upper('ŉ')                                   string  "\u02bcN"
upper('ﬃ')                                   string  "FFI"
upper('ΐ')                                   string  "\u0399\u0308\u0301"
lower('Ǆ')                                   string  "\u01c6"
upper('ǆ')                                   string  "\u01c4"
lower('ẞ')                                   string  "\xdf"
upper('\u0264')                              string  "\ua7cb"
lower('\ua7cb')                              string  "\u0264"
upper('\u019b')                              string  "\ua7dc"
lower('\U00010d50')                          string  "\U00010d70"
lower('K')                                   string  "k"
lower('Å')                                   string  "\xe5"
upper('ı')                                   string  "I"
lower('ᏠᎠ')                                  string  "\uabb0\uab70"
upper('ꭰ')                                   string  "\u13a0"
lower('AΣʕΣ')                                string  "a\u03c2\u0295\u03c3"
upper('ᾳ')                                   string  "\u0391\u0399"
lower(NULL)                                  string  NULL
upper(s || s_b)                              string  "ABC" | " ABC" | "A  PAD \t " | "ASS" | NULL | "ABC\u0130" | "ABC\u0391\u03a3" | "  PAD \t \u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "SS\xc9" | "\u02bcNE\u0301" | "\u0130\U0001f600X" | "\u0391\u03a3\xa0NB\xa0" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3A\x00B" | "\xc9\u01c4" | "E\u0301FFI" | "\U0001f600X\uffff" | "\xa0NB\xa0\U00010400" | "A\x00BIT'S \\ `Q`" | "\u01c40" | "FFI" | "\uffff " | "\U00010400A" | "IT'S \\ `Q`A" | NULL
lower(s || 'Σ')                              string  "\u03c3" | " \u03c3" | "a\u03c2" | "a\u03c2" | NULL | "abc\u03c2" | "abc\u03c2" | "  pad \t \u03c3" | "\xdf\u03c2" | "\u0149\u03c2" | "i\u0307\u03c2" | "\u03b1\u03c3\u03c2" | "\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03c3\u03b1\u03c3\u03c2" | "\xe9\u03c2" | "e\u0301\u03c2" | "\U0001f600x\u03c2" | "\xa0nb\xa0\u03c3" | "a\x00b\u03c2" | "\u01c6\u03c2" | "\ufb03\u03c2" | "\uffff\u03c3" | "\U00010428\u03c2" | "it's \\ `q`\u03c2" | "0\u03c3"
lower('Σ' || s)                              string  "\u03c3" | "\u03c3 " | "\u03c3a" | "\u03c3a" | NULL | "\u03c3abc" | "\u03c3abc" | "\u03c3  pad \t " | "\u03c3\xdf" | "\u03c3\u0149" | "\u03c3i\u0307" | "\u03c3\u03b1\u03c2" | "\u03c3\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03c3\u03b1\u03c2" | "\u03c3\xe9" | "\u03c3e\u0301" | "\u03c3\U0001f600x" | "\u03c3\xa0nb\xa0" | "\u03c3a\x00b" | "\u03c3\u01c6" | "\u03c3\ufb03" | "\u03c3\uffff" | "\u03c3\U00010428" | "\u03c3it's \\ `q`" | "\u03c30"
lower(s || 'Σ' || s_b)                       string  "\u03c3abc" | " \u03c3abc" | "a\u03c2  pad \t " | "a\u03c3\xdf" | NULL | "abc\u03c3i\u0307" | "abc\u03c3\u03b1\u03c2" | "  pad \t \u03c3\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03c3\u03b1\u03c2" | "\xdf\u03c3\xe9" | "\u0149\u03c3e\u0301" | "i\u0307\u03c2\U0001f600x" | "\u03b1\u03c3\u03c2\xa0nb\xa0" | "\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03c3\u03b1\u03c3\u03c3a\x00b" | "\xe9\u03c3\u01c6" | "e\u0301\u03c3\ufb03" | "\U0001f600x\u03c2\uffff" | "\xa0nb\xa0\u03c3\U00010428" | "a\x00b\u03c3it's \\ `q`" | "\u01c6\u03c20" | "\ufb03\u03c2" | "\uffff\u03c3 " | "\U00010428\u03c3a" | "it's \\ `q`\u03c3a" | NULL

-- trim takes U+0020 alone
trim(s)                                      string  "" | "" | "a" | "A" | NULL | "abc" | "ABC" | "pad \t" | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
trim('\u0020\u0020a\u0020b\u0020\u0020')     string  "a b"
trim('\ta\n')                                string  "\ta\n"
trim('\u00a0a')                              string  "\xa0a"
trim('\u3000')                               string  "\u3000"
trim('\u0020')                               string  ""
trim('')                                     string  ""

-- length counts code points
length(s)                                    int     0 | 1 | 1 | 1 | NULL | 3 | 3 | 8 | 1 | 1 | 1 | 2 | 12 | 1 | 2 | 2 | 4 | 3 | 1 | 1 | 1 | 1 | 10 | 1
length('')                                   int     0
length('😀')                                  int     1
length('e\u0301')                            int     2
len('abc')                                   int     3
char_length(s_b)                             int     3 | 3 | 8 | 1 | 1 | 1 | 2 | 12 | 1 | 2 | 2 | 4 | 3 | 1 | 1 | 1 | 1 | 10 | 1 | 0 | 1 | 1 | 1 | NULL
character_length('ß')                        int     1
length(NULL)                                 int     NULL

-- concat: NULL when one is
concat(s, s_b)                               string  "abc" | " ABC" | "a  pad \t " | "A\xdf" | NULL | "abc\u0130" | "ABC\u0391\u03a3" | "  pad \t \u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xdf\xe9" | "\u0149e\u0301" | "\u0130\U0001f600x" | "\u0391\u03a3\xa0nb\xa0" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3a\x00b" | "\xe9\u01c5" | "e\u0301\ufb03" | "\U0001f600x\uffff" | "\xa0nb\xa0\U00010400" | "a\x00bit's \\ `q`" | "\u01c50" | "\ufb03" | "\uffff " | "\U00010400a" | "it's \\ `q`A" | NULL
concat('a', 'b', 'c')                        string  "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc" | "abc"
concat(s)                                    string  "" | " " | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
concat('a', NULL)                            string  NULL
s || '-' || s_b                              string  "-abc" | " -ABC" | "a-  pad \t " | "A-\xdf" | NULL | "abc-\u0130" | "ABC-\u0391\u03a3" | "  pad \t -\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xdf-\xe9" | "\u0149-e\u0301" | "\u0130-\U0001f600x" | "\u0391\u03a3-\xa0nb\xa0" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3-a\x00b" | "\xe9-\u01c5" | "e\u0301-\ufb03" | "\U0001f600x-\uffff" | "\xa0nb\xa0-\U00010400" | "a\x00b-it's \\ `q`" | "\u01c5-0" | "\ufb03-" | "\uffff- " | "\U00010400-a" | "it's \\ `q`-A" | NULL
'' || ''                                     string  ""
concat(trim(s), lower(s_b), 'x')             string  "abcx" | "abcx" | "a  pad \t x" | "A\xdfx" | NULL | "abci\u0307x" | "ABC\u03b1\u03c2x" | "pad \t\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03c3\u03b1\u03c2x" | "\xdf\xe9x" | "\u0149e\u0301x" | "\u0130\U0001f600xx" | "\u0391\u03a3\xa0nb\xa0x" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3a\x00bx" | "\xe9\u01c6x" | "e\u0301\ufb03x" | "\U0001f600x\uffffx" | "\xa0nb\xa0\U00010428x" | "a\x00bit's \\ `q`x" | "\u01c50x" | "\ufb03x" | "\uffff x" | "\U00010400ax" | "it's \\ `q`ax" | NULL

-- substring: 0 is 1, negative counts from the end and may begin before the start
substring('hello', -10, -1)                  string  ""
substring('hello', -10, 0)                   string  ""
substring('hello', -10, 1)                   string  ""
substring('hello', -10, 2)                   string  ""
substring('hello', -10, 3)                   string  ""
substring('hello', -10, 10)                  string  "hello"
substring('hello', -6, -1)                   string  ""
substring('hello', -6, 0)                    string  ""
substring('hello', -6, 1)                    string  ""
substring('hello', -6, 2)                    string  "h"
substring('hello', -6, 3)                    string  "he"
substring('hello', -6, 10)                   string  "hello"
substring('hello', -5, -1)                   string  ""
substring('hello', -5, 0)                    string  ""
substring('hello', -5, 1)                    string  "h"
substring('hello', -5, 2)                    string  "he"
substring('hello', -5, 3)                    string  "hel"
substring('hello', -5, 10)                   string  "hello"
substring('hello', -3, -1)                   string  ""
substring('hello', -3, 0)                    string  ""
substring('hello', -3, 1)                    string  "l"
substring('hello', -3, 2)                    string  "ll"
substring('hello', -3, 3)                    string  "llo"
substring('hello', -3, 10)                   string  "llo"
substring('hello', -1, -1)                   string  ""
substring('hello', -1, 0)                    string  ""
substring('hello', -1, 1)                    string  "o"
substring('hello', -1, 2)                    string  "o"
substring('hello', -1, 3)                    string  "o"
substring('hello', -1, 10)                   string  "o"
substring('hello', 0, -1)                    string  ""
substring('hello', 0, 0)                     string  ""
substring('hello', 0, 1)                     string  "h"
substring('hello', 0, 2)                     string  "he"
substring('hello', 0, 3)                     string  "hel"
substring('hello', 0, 10)                    string  "hello"
substring('hello', 1, -1)                    string  ""
substring('hello', 1, 0)                     string  ""
substring('hello', 1, 1)                     string  "h"
substring('hello', 1, 2)                     string  "he"
substring('hello', 1, 3)                     string  "hel"
substring('hello', 1, 10)                    string  "hello"
substring('hello', 2, -1)                    string  ""
substring('hello', 2, 0)                     string  ""
substring('hello', 2, 1)                     string  "e"
substring('hello', 2, 2)                     string  "el"
substring('hello', 2, 3)                     string  "ell"
substring('hello', 2, 10)                    string  "ello"
substring('hello', 5, -1)                    string  ""
substring('hello', 5, 0)                     string  ""
substring('hello', 5, 1)                     string  "o"
substring('hello', 5, 2)                     string  "o"
substring('hello', 5, 3)                     string  "o"
substring('hello', 5, 10)                    string  "o"
substring('hello', 6, -1)                    string  ""
substring('hello', 6, 0)                     string  ""
substring('hello', 6, 1)                     string  ""
substring('hello', 6, 2)                     string  ""
substring('hello', 6, 3)                     string  ""
substring('hello', 6, 10)                    string  ""
substring('hello', 10, -1)                   string  ""
substring('hello', 10, 0)                    string  ""
substring('hello', 10, 1)                    string  ""
substring('hello', 10, 2)                    string  ""
substring('hello', 10, 3)                    string  ""
substring('hello', 10, 10)                   string  ""
substring('hello', 2)                        string  "ello"
substring('hello', 0)                        string  "hello"
substring('hello', -2)                       string  "lo"
substring('hello', 9)                        string  ""
substring('hello', -9)                       string  "hello"
substring('hello', 2147483647, 2147483647)   string  ""
substring('hello', -2147483648, 2147483647)  string  "hell"
substring('hello', 2, 2147483647)            string  "ello"
substring('hello', -2147483648)              string  "hell"
substring('hello', 1, -2147483648)           string  ""
substring('😀bc', 1, 1)                       string  "\U0001f600"
substring('a😀c', 2, 2)                       string  "\U0001f600c"
substr(s, 2, 1)                              string  "" | "" | "" | "" | NULL | "b" | "B" | " " | "" | "" | "" | "\u03a3" | "\u0394" | "" | "\u0301" | "x" | "n" | "\x00" | "" | "" | "" | "" | "t" | ""
substring(s, -2, 2)                          string  "" | " " | "a" | "A" | NULL | "bc" | "BC" | "\t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "b\xa0" | "\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "q`" | "0"
substring(s, i8, 2)                          string  NULL | " " | "a" | "A" | NULL | "" | "" | "" | "" | "" | "" | NULL | "\u039f\u0394" | "\xe9" | "\u0301" | "x" | "" | "" | "" | "" | "" | "" | NULL | "0"
substring(s, 1, i32)                         string  "" | " " | NULL | "" | NULL | "" | "ABC" | "  pad \t " | "" | "\u0149" | "" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "" | "\U0001f600x" | "" | "a" | NULL | "" | "\uffff" | "" | "it's \\ `q`" | "0"
substring(s, i32, i32_b)                     string  "" | " " | NULL | "" | NULL | "" | "" | "" | "" | "" | "\u0130" | "" | "" | NULL | "" | "" | "" | "a\x00b" | NULL | "" | "" | "" | "`" | ""
substring(s, i16)                            string  "" | NULL | "a" | "A" | NULL | "" | "ABC" | "" | "\xdf" | "" | "\u0130" | "\u0391\u03a3" | NULL | "\xe9" | "\u0301" | "" | "" | "a\x00b" | "" | "\ufb03" | "" | "\U00010400" | "it's \\ `q`" | NULL
substring(NULL, 1, 2)                        string  NULL
substring('abc', NULL, 2)                    string  NULL

-- upper and lower are both done: ß becomes ss
lower(upper(s))                              string  "" | " " | "a" | "a" | NULL | "abc" | "abc" | "  pad \t " | "ss" | "\u02bcn" | "i\u0307" | "\u03b1\u03c2" | "\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03c3\u03b1\u03c2" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c6" | "ffi" | "\uffff" | "\U00010428" | "it's \\ `q`" | "0"
upper(lower(s))                              string  "" | " " | "A" | "A" | NULL | "ABC" | "ABC" | "  PAD \t " | "SS" | "\u02bcN" | "I\u0307" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xc9" | "E\u0301" | "\U0001f600X" | "\xa0NB\xa0" | "A\x00B" | "\u01c4" | "FFI" | "\uffff" | "\U00010400" | "IT'S \\ `Q`" | "0"
