-- Recorded by `python -m tests.semantics.record` from Spark 4.3.0, JDK 17, ANSI true, session zone UTC.
-- Columns are those of tests/semantics/edges.py; their cases have one value for each of its rows.
-- initcap: title case is not upper case; only U+0020 parts words; a sigma at a word's end
initcap(s)                                        string          "" | " " | "A" | "A" | NULL | "Abc" | "Abc" | "  Pad \t " | "Ss" | "\u02bcN" | "\u0130" | "\u0391\u03c2" | "\u039f\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03a3\u03b1\u03c2" | "\xc9" | "E\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "A\x00b" | "\u01c5" | "Ffi" | "\uffff" | "\U00010400" | "It's \\ `q`" | "0"
initcap(s || s_b)                                 string          "Abc" | " Abc" | "A  Pad \t " | "A\xdf" | NULL | "Abci\u0307" | "Abc\u03b1\u03c2" | "  Pad \t \u039f\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03a3\u03b1\u03c2" | "Ss\xe9" | "\u02bcNe\u0301" | "\u0130\U0001f600x" | "\u0391\u03c2\xa0nb\xa0" | "\u039f\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03a3\u03b1\u03c3a\x00b" | "\xc9\u01c6" | "E\u0301\ufb03" | "\U0001f600x\uffff" | "\xa0nb\xa0\U00010428" | "A\x00bit's \\ `q`" | "\u01c50" | "Ffi" | "\uffff " | "\U00010400a" | "It's \\ `q`a" | NULL
initcap('ΑΣ ΣΑΣ Σ ΣΣ')                            string          "\u0391\u03c2 \u03a3\u03b1\u03c2 \u03a3 \u03a3\u03c2"
initcap('ǆ ǅ Ǆ ŉa ﬃ ß ﬁx')                        string          "\u01c5 \u01c5 \u01c5 \u02bcNa Ffi Ss Fix"
initcap('İSTANBUL İİ iI ıI')                      string          "\u0130stanbul \u0130i\u0307 Ii Ii"
initcap('a-b a\tb a\u00a0b a\'b A.B')             string          "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b" | "A-b A\tb A\xa0b A'b A.b"
initcap('\u0020a\u0020\u0020B\u0020')             string          " A  B "
initcap('აბ ᾳ ᾴ ΐ և')                             string          "\u10d0\u10d1 \u1fbc \u0386\u0345 \u0399\u0308\u0301 \u0535\u0582"
initcap('𐐨𐐀 ꭰ')                                   string          "\U00010400\U00010428 \u13a0"
initcap('AΣʕΣ ΑΣ\u0301 ΑΣ.')                      string          "A\u03c2\u0295\u03c3 \u0391\u03c2\u0301 \u0391\u03c2."
initcap(NULL)                                     string          NULL
initcap('')                                       string          ""
initcap(upper(s))                                 string          "" | " " | "A" | "A" | NULL | "Abc" | "Abc" | "  Pad \t " | "Ss" | "\u02bcn" | "\u0130" | "\u0391\u03c2" | "\u039f\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03a3\u03b1\u03c2" | "\xc9" | "E\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "A\x00b" | "\u01c5" | "Ffi" | "\uffff" | "\U00010400" | "It's \\ `q`" | "0"
upper(initcap(s))                                 string          "" | " " | "A" | "A" | NULL | "ABC" | "ABC" | "  PAD \t " | "SS" | "\u02bcN" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xc9" | "E\u0301" | "\U0001f600X" | "\xa0NB\xa0" | "A\x00B" | "\u01c4" | "FFI" | "\uffff" | "\U00010400" | "IT'S \\ `Q`" | "0"
initcap(lower(s))                                 string          "" | " " | "A" | "A" | NULL | "Abc" | "Abc" | "  Pad \t " | "Ss" | "\u02bcN" | "I\u0307" | "\u0391\u03c2" | "\u039f\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03a3\u03b1\u03c2" | "\xc9" | "E\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "A\x00b" | "\u01c5" | "Ffi" | "\uffff" | "\U00010400" | "It's \\ `q`" | "0"

-- trims: U+0020 alone unless characters are given; those are a set of code points
ltrim(s)                                          string          "" | "" | "a" | "A" | NULL | "abc" | "ABC" | "pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
rtrim(s)                                          string          "" | "" | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t" | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
btrim(s)                                          string          "" | "" | "a" | "A" | NULL | "abc" | "ABC" | "pad \t" | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
ltrim('\u0020\u0020a\u0020b\u0020\u0020')         string          "a b  "
rtrim('\u0020\u0020a\u0020b\u0020\u0020')         string          "  a b"
ltrim('\u00a0a\u3000')                            string          "\xa0a\u3000"
rtrim('a\n\t')                                    string          "a\n\t"
ltrim('')                                         string          ""
rtrim(NULL)                                       string          NULL
ltrim(NULL)                                       string          NULL
rtrim('\u0020')                                   string          ""
ltrim('\t\u0020a')                                string          "\t a"
rtrim(s || '\u0020\t\u0020')                      string          " \t" | "  \t" | "a \t" | "A \t" | NULL | "abc \t" | "ABC \t" | "  pad \t  \t" | "\xdf \t" | "\u0149 \t" | "\u0130 \t" | "\u0391\u03a3 \t" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3 \t" | "\xe9 \t" | "e\u0301 \t" | "\U0001f600x \t" | "\xa0nb\xa0 \t" | "a\x00b \t" | "\u01c5 \t" | "\ufb03 \t" | "\uffff \t" | "\U00010400 \t" | "it's \\ `q` \t" | "0 \t"
btrim('xxyaxyx', 'xy')                            string          "a"
btrim('xxyaxyx', '')                              string          "xxyaxyx"
btrim('😀é😀aé', 'é😀')                              string          "a"
btrim(s, 'aA😀 ')                                  string          "" | "" | "" | "" | NULL | "bc" | "BC" | "pad \t" | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "x" | "\xa0nb\xa0" | "\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
btrim(s, s_b)                                     string          "" | " " | "" | "A" | NULL | "abc" | "ABC" | "pad \t" | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | NULL
btrim('aaa', 'a')                                 string          ""
btrim('a\u0000a', '\u0000')                       string          "a\x00a"
btrim(s, NULL)                                    string          NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
btrim(NULL, 'a')                                  string          NULL
trim(BOTH FROM s)                                 string          "" | "" | "a" | "A" | NULL | "abc" | "ABC" | "pad \t" | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
trim(LEADING FROM '\u0020a\u0020')                string          "a "
trim(TRAILING FROM '\u0020a\u0020')               string          " a"
TRIM(LEADING 'xy' FROM 'yxaxy')                   string          "axy"
TRIM(TRAILING 'xy' FROM 'yxaxy')                  string          "yxa"
TRIM(BOTH 'xy' FROM 'yxaxy')                      string          "a"
trim('xy' FROM 'yxaxy')                           string          "a"
trim(LEADING s_b FROM s || s_b)                   string          "" | " ABC" | "" | "A\xdf" | NULL | "abc\u0130" | "ABC\u0391\u03a3" | "pad \t \u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xdf\xe9" | "\u0149e\u0301" | "\u0130\U0001f600x" | "\u0391\u03a3\xa0nb\xa0" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3a\x00b" | "\xe9\u01c5" | "e\u0301\ufb03" | "\U0001f600x\uffff" | "\xa0nb\xa0\U00010400" | "a\x00bit's \\ `q`" | "\u01c50" | "\ufb03" | "\uffff " | "\U00010400a" | "it's \\ `q`A" | NULL
trim(TRAILING s_b FROM s || s_b)                  string          "" | " " | "" | "A" | NULL | "abc" | "ABC" | "  pad \t" | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | NULL
trim(LEADING 'ΑΣ' FROM s)                         string          "" | " " | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
trim(TRAILING 'ΑΣbc' FROM s)                      string          "" | " " | "a" | "A" | NULL | "a" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 " | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
trim(LEADING '' FROM s)                           string          "" | " " | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
trim(TRAILING NULL FROM s)                        string          NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
trim(LEADING 'a' FROM NULL)                       string          NULL
trim(TRAILING '0\uffff𐐀' FROM s)                  string          "" | " " | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "" | "" | "it's \\ `q`" | ""
trim(LEADING lower(s_b) FROM lower(s))            string          "" | " " | "" | "a" | NULL | "abc" | "abc" | "pad \t " | "\xdf" | "\u0149" | "i\u0307" | "\u03b1\u03c2" | "\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2 \u03c3\u03b1\u03c2" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c6" | "\ufb03" | "\uffff" | "\U00010428" | "it's \\ `q`" | NULL
trim(TRAILING upper(s_b) FROM upper(s))           string          "" | " " | "" | "A" | NULL | "ABC" | "ABC" | "  PAD \t" | "SS" | "\u02bcN" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xc9" | "E\u0301" | "\U0001f600X" | "\xa0NB\xa0" | "A\x00B" | "\u01c4" | "FFI" | "\uffff" | "\U00010400" | "IT'S \\ `Q`" | NULL
trim(BOTH s_b FROM s)                             string          "" | " " | "" | "A" | NULL | "abc" | "ABC" | "pad \t" | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | NULL

-- lengths in bytes and bits
octet_length(s)                                   int             0 | 1 | 1 | 1 | NULL | 3 | 3 | 8 | 2 | 2 | 2 | 4 | 23 | 2 | 3 | 5 | 6 | 3 | 2 | 3 | 3 | 4 | 10 | 1
octet_length('😀é')                                int             6
octet_length('')                                  int             0
octet_length(NULL)                                int             NULL
octet_length('\u0000')                            int             1
octet_length(upper(s))                            int             0 | 1 | 1 | 1 | NULL | 3 | 3 | 8 | 2 | 3 | 2 | 4 | 23 | 2 | 3 | 5 | 6 | 3 | 2 | 3 | 3 | 4 | 10 | 1
bit_length(s)                                     int             0 | 8 | 8 | 8 | NULL | 24 | 24 | 64 | 16 | 16 | 16 | 32 | 184 | 16 | 24 | 40 | 48 | 24 | 16 | 24 | 24 | 32 | 80 | 8
bit_length('€')                                   int             24
bit_length('')                                    int             0
bit_length(NULL)                                  int             NULL
bit_length(s || s_b)                              int             24 | 32 | 72 | 24 | NULL | 40 | 56 | 248 | 32 | 40 | 56 | 80 | 208 | 32 | 48 | 64 | 80 | 104 | 24 | 24 | 32 | 40 | 88 | NULL
bit_length('😀')                                   int             32
length(s || '😀')                                  int             1 | 2 | 2 | 2 | NULL | 4 | 4 | 9 | 2 | 2 | 2 | 3 | 13 | 2 | 3 | 3 | 5 | 4 | 2 | 2 | 2 | 2 | 11 | 2

-- concat_ws leaves NULL away; a separator that is NULL makes all NULL
concat_ws(',', s, s_b)                            string          ",abc" | " ,ABC" | "a,  pad \t " | "A,\xdf" | "\u0149" | "abc,\u0130" | "ABC,\u0391\u03a3" | "  pad \t ,\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xdf,\xe9" | "\u0149,e\u0301" | "\u0130,\U0001f600x" | "\u0391\u03a3,\xa0nb\xa0" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3,a\x00b" | "\xe9,\u01c5" | "e\u0301,\ufb03" | "\U0001f600x,\uffff" | "\xa0nb\xa0,\U00010400" | "a\x00b,it's \\ `q`" | "\u01c5,0" | "\ufb03," | "\uffff, " | "\U00010400,a" | "it's \\ `q`,A" | "0"
concat_ws(s, s_b, 'x', s_b)                       string          "abcxabc" | "ABC x ABC" | "  pad \t axa  pad \t " | "\xdfAxA\xdf" | NULL | "\u0130abcxabc\u0130" | "\u0391\u03a3ABCxABC\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3  pad \t x  pad \t \u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9\xdfx\xdf\xe9" | "e\u0301\u0149x\u0149e\u0301" | "\U0001f600x\u0130x\u0130\U0001f600x" | "\xa0nb\xa0\u0391\u03a3x\u0391\u03a3\xa0nb\xa0" | "a\x00b\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3x\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3a\x00b" | "\u01c5\xe9x\xe9\u01c5" | "\ufb03e\u0301xe\u0301\ufb03" | "\uffff\U0001f600xx\U0001f600x\uffff" | "\U00010400\xa0nb\xa0x\xa0nb\xa0\U00010400" | "it's \\ `q`a\x00bxa\x00bit's \\ `q`" | "0\u01c5x\u01c50" | "\ufb03x\ufb03" | " \uffffx\uffff " | "a\U00010400x\U00010400a" | "Ait's \\ `q`xit's \\ `q`A" | "x"
concat_ws(',')                                    string          ""
concat_ws(s)                                      string          "" | "" | "" | "" | NULL | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | ""
concat_ws(NULL, 'a')                              string          NULL
concat_ws(',', NULL, NULL)                        string          ""
concat_ws(',', 'a', NULL, 'b')                    string          "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b" | "a,b"
concat_ws('', 'a', '', 'b')                       string          "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab" | "ab"
concat_ws('😀', 'a', 'b', NULL)                    string          "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b" | "a\U0001f600b"
concat_ws(';', as_)                               string          "a;b" | "" | "" | "" | "a" | "b;a;b" | "\U0001f600;\uffff;\xe9" | "A;a; " | "x \x7c y;\\\"'" | "" | "abc;0;\xdf;it's" | "a;b" | "" | "" | "" | "a" | "b;a;b" | "\U0001f600;\uffff;\xe9" | "A;a; " | "x \x7c y;\\\"'" | "" | "abc;0;\xdf;it's" | "a;b" | ""
concat_ws('-', s, as_, 'x', as__b)                string          "-a-b-x-b-a-b" | " -x-\U0001f600-\uffff-\xe9" | "a-x-A-a- " | "A--x-x \x7c y-\\\"'" | "a-x" | "abc-b-a-b-x-abc-0-\xdf-it's" | "ABC-\U0001f600-\uffff-\xe9-x-a-b" | "  pad \t -A-a- -x" | "\xdf-x \x7c y-\\\"'-x" | "\u0149-x-" | "\u0130-abc-0-\xdf-it's-x-a" | "\u0391\u03a3-a-b-x-b-a-b" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3-x-\U0001f600-\uffff-\xe9" | "\xe9-x-A-a- " | "e\u0301--x-x \x7c y-\\\"'" | "\U0001f600x-a-x" | "\xa0nb\xa0-b-a-b-x-abc-0-\xdf-it's" | "a\x00b-\U0001f600-\uffff-\xe9-x-a-b" | "\u01c5-A-a- -x" | "\ufb03-x \x7c y-\\\"'-x" | "\uffff-x-" | "\U00010400-abc-0-\xdf-it's-x-a" | "it's \\ `q`-a-b-x-b-a-b" | "0-x-\U0001f600-\uffff-\xe9"
concat_ws(s, as_)                                 string          "ab" | "" | "" | "" | NULL | "babcaabcb" | "\U0001f600ABC\uffffABC\xe9" | "A  pad \t a  pad \t  " | "x \x7c y\xdf\\\"'" | "" | "abc\u01300\u0130\xdf\u0130it's" | "a\u0391\u03a3b" | "" | "" | "" | "a" | "b\xa0nb\xa0a\xa0nb\xa0b" | "\U0001f600a\x00b\uffffa\x00b\xe9" | "A\u01c5a\u01c5 " | "x \x7c y\ufb03\\\"'" | "" | "abc\U000104000\U00010400\xdf\U00010400it's" | "ait's \\ `q`b" | ""

-- left and right: nothing for a count below 1
left(s, 2)                                        string          "" | " " | "a" | "A" | NULL | "ab" | "AB" | "  " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0n" | "a\x00" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it" | "0"
left(s, i8)                                       string          NULL | "" | "a" | "" | NULL | "abc" | "" | "  pad \t " | "" | "\u0149" | "" | NULL | "" | "\xe9" | "" | "\U0001f600x" | "\xa0nb\xa0" | "" | "\u01c5" | "" | "\uffff" | "" | NULL | ""
left(s, i32)                                      string          "" | " " | NULL | "" | NULL | "" | "ABC" | "  pad \t " | "" | "\u0149" | "" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "" | "\U0001f600x" | "" | "a" | NULL | "" | "\uffff" | "" | "it's \\ `q`" | "0"
left('😀bc', 1)                                    string          "\U0001f600"
left('abc', 0)                                    string          ""
left('abc', -2147483648)                          string          ""
left('abc', 2147483647)                           string          "abc"
left(NULL, 1)                                     string          NULL
left('abc', NULL)                                 string          NULL
right(s, 2)                                       string          "" | " " | "a" | "A" | NULL | "bc" | "BC" | "\t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "b\xa0" | "\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "q`" | "0"
right(s, i8)                                      string          NULL | "" | "a" | "" | NULL | "abc" | "" | "  pad \t " | "" | "\u0149" | "" | NULL | "" | "\xe9" | "" | "\U0001f600x" | "\xa0nb\xa0" | "" | "\u01c5" | "" | "\uffff" | "" | NULL | ""
right(s, i32)                                     string          "" | " " | NULL | "" | NULL | "" | "ABC" | "  pad \t " | "" | "\u0149" | "" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "" | "\U0001f600x" | "" | "b" | NULL | "" | "\uffff" | "" | "it's \\ `q`" | "0"
right('ab😀', 1)                                   string          "\U0001f600"
right('abc', 0)                                   string          ""
right('abc', -2147483648)                         string          ""
right('abc', 2147483647)                          string          "abc"
right(NULL, 1)                                    string          NULL
right('abc', NULL)                                string          NULL

-- padding: cut where it is longer; an empty padding fills nothing
lpad(s, 4)                                        string          "    " | "    " | "   a" | "   A" | NULL | " abc" | " ABC" | "  pa" | "   \xdf" | "   \u0149" | "   \u0130" | "  \u0391\u03a3" | "\u039f\u0394\u03a5\u03a3" | "   \xe9" | "  e\u0301" | "  \U0001f600x" | "\xa0nb\xa0" | " a\x00b" | "   \u01c5" | "   \ufb03" | "   \uffff" | "   \U00010400" | "it's" | "   0"
lpad(s, 4, 'xy')                                  string          "xyxy" | "xyx " | "xyxa" | "xyxA" | NULL | "xabc" | "xABC" | "  pa" | "xyx\xdf" | "xyx\u0149" | "xyx\u0130" | "xy\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3" | "xyx\xe9" | "xye\u0301" | "xy\U0001f600x" | "\xa0nb\xa0" | "xa\x00b" | "xyx\u01c5" | "xyx\ufb03" | "xyx\uffff" | "xyx\U00010400" | "it's" | "xyx0"
lpad(s, 7, s_b)                                   string          "abcabca" | "ABCABC " | "  pad a" | "\xdf\xdf\xdf\xdf\xdf\xdfA" | NULL | "\u0130\u0130\u0130\u0130abc" | "\u0391\u03a3\u0391\u03a3ABC" | "  pad \t" | "\xe9\xe9\xe9\xe9\xe9\xe9\xdf" | "e\u0301e\u0301e\u0301\u0149" | "\U0001f600x\U0001f600x\U0001f600x\u0130" | "\xa0nb\xa0\xa0\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5" | "\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\xe9" | "\ufb03\ufb03\ufb03\ufb03\ufb03e\u0301" | "\uffff\uffff\uffff\uffff\uffff\U0001f600x" | "\U00010400\U00010400\U00010400\xa0nb\xa0" | "it'sa\x00b" | "000000\u01c5" | "\ufb03" | "      \uffff" | "aaaaaa\U00010400" | "it's \\ " | NULL
lpad(s, i8)                                       string          NULL | "" | "a" | "" | NULL | "    abc" | "" | "                                                                                                                         pad \t " | "" | "                                                                                                   \u0149" | "" | NULL | "" | "\xe9" | "" | "\U0001f600x" | "   \xa0nb\xa0" | "" | "                                                                                                                              \u01c5" | "" | "                                                                                                   \uffff" | "" | NULL | ""
lpad('abc', 2, 'x')                               string          "ab"
lpad('abc', 5, '')                                string          "abc"
lpad('abc', 0, 'x')                               string          ""
lpad('abc', -1, 'x')                              string          ""
lpad('abc', -2147483648, 'x')                     string          ""
lpad('é', 4, '😀a')                                string          "\U0001f600a\U0001f600\xe9"
lpad('', 3, '\u0000')                             string          "\x00\x00\x00"
lpad(NULL, 3, 'x')                                string          NULL
lpad('a', NULL, 'x')                              string          NULL
lpad('a', 3, NULL)                                string          NULL
rpad(s, 4)                                        string          "    " | "    " | "a   " | "A   " | NULL | "abc " | "ABC " | "  pa" | "\xdf   " | "\u0149   " | "\u0130   " | "\u0391\u03a3  " | "\u039f\u0394\u03a5\u03a3" | "\xe9   " | "e\u0301  " | "\U0001f600x  " | "\xa0nb\xa0" | "a\x00b " | "\u01c5   " | "\ufb03   " | "\uffff   " | "\U00010400   " | "it's" | "0   "
rpad(s, 4, 'xy')                                  string          "xyxy" | " xyx" | "axyx" | "Axyx" | NULL | "abcx" | "ABCx" | "  pa" | "\xdfxyx" | "\u0149xyx" | "\u0130xyx" | "\u0391\u03a3xy" | "\u039f\u0394\u03a5\u03a3" | "\xe9xyx" | "e\u0301xy" | "\U0001f600xxy" | "\xa0nb\xa0" | "a\x00bx" | "\u01c5xyx" | "\ufb03xyx" | "\uffffxyx" | "\U00010400xyx" | "it's" | "0xyx"
rpad(s, 7, s_b)                                   string          "abcabca" | " ABCABC" | "a  pad " | "A\xdf\xdf\xdf\xdf\xdf\xdf" | NULL | "abc\u0130\u0130\u0130\u0130" | "ABC\u0391\u03a3\u0391\u03a3" | "  pad \t" | "\xdf\xe9\xe9\xe9\xe9\xe9\xe9" | "\u0149e\u0301e\u0301e\u0301" | "\u0130\U0001f600x\U0001f600x\U0001f600x" | "\u0391\u03a3\xa0nb\xa0\xa0" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5" | "\xe9\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5" | "e\u0301\ufb03\ufb03\ufb03\ufb03\ufb03" | "\U0001f600x\uffff\uffff\uffff\uffff\uffff" | "\xa0nb\xa0\U00010400\U00010400\U00010400" | "a\x00bit's" | "\u01c5000000" | "\ufb03" | "\uffff      " | "\U00010400aaaaaa" | "it's \\ " | NULL
rpad(s, i8, '😀')                                  string          NULL | "" | "a" | "" | NULL | "abc\U0001f600\U0001f600\U0001f600\U0001f600" | "" | "  pad \t \U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600" | "" | "\u0149\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600" | "" | NULL | "" | "\xe9" | "" | "\U0001f600x" | "\xa0nb\xa0\U0001f600\U0001f600\U0001f600" | "" | "\u01c5\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600" | "" | "\uffff\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600" | "" | NULL | ""
rpad('abc', 2, 'x')                               string          "ab"
rpad('abc', 5, '')                                string          "abc"
rpad('abc', -1, 'x')                              string          ""
rpad('é', 4, '😀a')                                string          "\xe9\U0001f600a\U0001f600"
rpad(NULL, 3, 'x')                                string          NULL
rpad('a', NULL, 'x')                              string          NULL
rpad('a', 3, NULL)                                string          NULL
repeat(s, 3)                                      string          "" | "   " | "aaa" | "AAA" | NULL | "abcabcabc" | "ABCABCABC" | "  pad \t   pad \t   pad \t " | "\xdf\xdf\xdf" | "\u0149\u0149\u0149" | "\u0130\u0130\u0130" | "\u0391\u03a3\u0391\u03a3\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9\xe9\xe9" | "e\u0301e\u0301e\u0301" | "\U0001f600x\U0001f600x\U0001f600x" | "\xa0nb\xa0\xa0nb\xa0\xa0nb\xa0" | "a\x00ba\x00ba\x00b" | "\u01c5\u01c5\u01c5" | "\ufb03\ufb03\ufb03" | "\uffff\uffff\uffff" | "\U00010400\U00010400\U00010400" | "it's \\ `q`it's \\ `q`it's \\ `q`" | "000"
repeat(s, i8)                                     string          NULL | "" | "a" | "" | NULL | "abcabcabcabcabcabcabc" | "" | "  pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t   pad \t " | "" | "\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149\u0149" | "" | NULL | "" | "\xe9" | "" | "\U0001f600x\U0001f600x" | "\xa0nb\xa0\xa0nb\xa0\xa0nb\xa0\xa0nb\xa0\xa0nb\xa0\xa0nb\xa0\xa0nb\xa0" | "" | "\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5\u01c5" | "" | "\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff\uffff" | "" | NULL | ""
repeat('ab', 0)                                   string          ""
repeat('ab', -1)                                  string          ""
repeat('ab', -2147483648)                         string          ""
repeat('', 2147483647)                            string          ""
repeat(NULL, 2)                                   string          NULL
repeat('a', NULL)                                 string          NULL
repeat('😀', 2)                                    string          "\U0001f600\U0001f600"
space(3)                                          string          "   "
space(0)                                          string          ""
space(-1)                                         string          ""
space(i8)                                         string          NULL | "" | " " | "" | "  " | "       " | "" | "                                                                                                                               " | "" | "                                                                                                    " | "" | NULL | "" | " " | "" | "  " | "       " | "" | "                                                                                                                               " | "" | "                                                                                                    " | "" | NULL | ""
space(-2147483648)                                string          ""
space(NULL)                                       string          NULL

-- reverse turns code points, not letters with their marks
reverse(s)                                        string          "" | " " | "a" | "A" | NULL | "cba" | "CBA" | " \t dap  " | "\xdf" | "\u0149" | "\u0130" | "\u03a3\u0391" | "\u03a3\u0391\u03a3 \u03a3\u03a5\u0395\u03a3\u03a3\u03a5\u0394\u039f" | "\xe9" | "\u0301e" | "x\U0001f600" | "\xa0bn\xa0" | "b\x00a" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "`q` \\ s'ti" | "0"
reverse('e\u0301')                                string          "\u0301e"
reverse('😀a')                                     string          "a\U0001f600"
reverse('')                                       string          ""
reverse(NULL)                                     string          NULL
reverse(reverse(s))                               string          "" | " " | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
reverse(upper(s))                                 string          "" | " " | "A" | "A" | NULL | "CBA" | "CBA" | " \t DAP  " | "SS" | "N\u02bc" | "\u0130" | "\u03a3\u0391" | "\u03a3\u0391\u03a3 \u03a3\u03a5\u0395\u03a3\u03a3\u03a5\u0394\u039f" | "\xc9" | "\u0301E" | "X\U0001f600" | "\xa0BN\xa0" | "B\x00A" | "\u01c4" | "IFF" | "\uffff" | "\U00010400" | "`Q` \\ S'TI" | "0"

-- replace and translate
replace(s, 'a', 'xyz')                            string          "" | " " | "xyz" | "A" | NULL | "xyzbc" | "ABC" | "  pxyzd \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "xyz\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
replace(s, s_b, '-')                              string          "" | " " | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | NULL
replace(s, s_b)                                   string          "" | " " | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | NULL
replace('aaa', 'aa', 'b')                         string          "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba"
replace('aaa', '', 'b')                           string          "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa" | "aaa"
replace('', '', 'b')                              string          "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | ""
replace('abc', 'b')                               string          "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac" | "ac"
replace('😀é😀', '😀', '')                           string          "\xe9"
replace(s, ' ', s_b)                              string          "" | "ABC" | "a" | "A" | NULL | "abc" | "ABC" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3pad\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3\t\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3a\x00b\u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it'sA\\A`q`" | NULL
replace('abc', 'abc', 'abcabc')                   string          "abcabc"
replace(NULL, 'a', 'b')                           string          NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
replace('a', NULL, 'b')                           string          NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
replace('a', 'a', NULL)                           string          NULL
translate(s, 'abcΣ', 'xy')                        string          "" | " " | "x" | "A" | NULL | "xy" | "ABC" | "  pxd \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391" | "\u039f\u0394\u03a5\u0395\u03a5 \u0391" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0ny\xa0" | "x\x00y" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
translate(s, s_b, 'xyz')                          string          "" | " " | "" | "A" | NULL | "abc" | "ABC" | "pad\t" | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | NULL
translate(s, 'aA', s_b)                           string          "" | " " | " " | "" | NULL | "\u0130bc" | "\u03a3BC" | "  p\u039fd \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "i\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | NULL
translate('aab', 'aa', 'xy')                      string          "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb" | "xxb"
translate('a😀c', '😀a', 'xy')                      string          "yxc"
translate('abc', 'ab', '\u0000x')                 string          "\x00xc"
translate('abc', '', 'x')                         string          "abc"
translate('abc', 'abc', '')                       string          ""
translate('ab', 'ab', 'ba')                       string          "ba"
translate(NULL, 'a', 'b')                         string          NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
translate('a', NULL, 'b')                         string          NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
translate('a', 'a', NULL)                         string          NULL

-- overlay
overlay(s, 'XY', 2)                               string          "XY" | " XY" | "aXY" | "AXY" | NULL | "aXY" | "AXY" | " XYad \t " | "\xdfXY" | "\u0149XY" | "\u0130XY" | "\u0391XY" | "\u039fXY\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9XY" | "eXY" | "\U0001f600XY" | "\xa0XY\xa0" | "aXY" | "\u01c5XY" | "\ufb03XY" | "\uffffXY" | "\U00010400XY" | "iXYs \\ `q`" | "0XY"
overlay(s, 'XY', 2, 0)                            string          "XY" | " XY" | "aXY" | "AXY" | NULL | "aXYbc" | "AXYBC" | " XY pad \t " | "\xdfXY" | "\u0149XY" | "\u0130XY" | "\u0391XY\u03a3" | "\u039fXY\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9XY" | "eXY\u0301" | "\U0001f600XYx" | "\xa0XYnb\xa0" | "aXY\x00b" | "\u01c5XY" | "\ufb03XY" | "\uffffXY" | "\U00010400XY" | "iXYt's \\ `q`" | "0XY"
overlay(s, s_b, i8)                               string          NULL | "ABC" | "  pad \t " | "\xdfA" | NULL | "abc\u0130" | "\u0391\u03a3ABC" | "  pad \t \u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9\xdf" | "\u0149e\u0301" | "\U0001f600x\u0130" | NULL | "a\x00b\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\u01c5" | "\ufb03e\u0301" | "\U0001f600\uffff" | "\xa0nb\xa0\U00010400" | "it's \\ `q`b" | "\u01c50" | "\ufb03" | "\uffff " | "a\U00010400" | NULL | NULL
overlay(s, s_b, i8, i8_b)                         string          NULL | "ABC" | "  pad \t " | "\xdfA" | NULL | "abc\u0130" | NULL | "  pad \t \u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9\xdf" | "\u0149e\u0301" | "\U0001f600x\u0130" | NULL | "a\x00b\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\u01c5" | "\ufb03e\u0301" | "\U0001f600\uffff" | "\xa0nb\xa0\U00010400" | NULL | "\u01c50" | "\ufb03" | "\uffff " | "a\U00010400" | NULL | NULL
overlay(s, s_b, i32, i32_b)                       string          "abc" | "ABC" | NULL | "\xdfA" | NULL | "\u0130abc" | "ABC\u0391\u03a3" | "  pad \t \u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9\xdf" | "\u0149e\u0301" | "\U0001f600x" | "\u0391\u03a3\xa0nb\xa0" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3a\x00b" | NULL | "\ufb03e\u0301" | "\U0001f600x\uffff" | "\U00010400\xa0nb\xa0" | "it's \\ `q`" | NULL | "\ufb03" | "\uffff " | "a\U00010400" | "it's \\ `qA" | NULL
overlay('hello', 'XY', 0)                         string          "XYello"
overlay('hello', 'XY', -2)                        string          "XYhello"
overlay('hello', 'XY', 2, -1)                     string          "hXYlo"
overlay('hello', 'XY', 2, 2147483647)             string          "hXY"
overlay('hello', 'XY', 2147483647, 2147483647)    string          "helloXY"
overlay('hello', 'XY', -2147483648)               string          "XYhello"
overlay('hello', 'XY', -2147483648, 2147483647)   string          "XYo"
overlay('hello', '', 3, 2)                        string          "heo"
overlay('h😀llo' PLACING 'é' FROM 2)               string          "h\xe9llo"
overlay('hello' PLACING 'XYZ' FROM 2 FOR 1)       string          "hXYZllo"
overlay(NULL, 'a', 1)                             string          NULL
overlay('a', NULL, 1)                             string          NULL
overlay('a', 'b', NULL)                           string          NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
overlay('a', 'b', 1, NULL)                        string          NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL

-- where a part is
instr(s, 'a')                                     int             0 | 0 | 1 | 0 | NULL | 1 | 0 | 4 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0
instr(s, s_b)                                     int             0 | 0 | 0 | 0 | NULL | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 0 | NULL
instr(s || s_b, s_b)                              int             1 | 2 | 2 | 2 | NULL | 4 | 4 | 9 | 2 | 2 | 2 | 3 | 13 | 2 | 3 | 3 | 5 | 4 | 2 | 1 | 2 | 2 | 11 | NULL
instr('abc', '')                                  int             1
instr('', '')                                     int             1
instr('😀é', 'é')                                  int             2
instr('aXbX', 'X')                                int             2
instr(NULL, 'a')                                  int             NULL
instr('a', NULL)                                  int             NULL
locate('a', s)                                    int             0 | 0 | 1 | 0 | NULL | 1 | 0 | 4 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0
locate(s_b, s)                                    int             0 | 0 | 0 | 0 | NULL | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 0 | NULL
locate(s_b, s || s_b, 2)                          int             0 | 2 | 2 | 2 | NULL | 4 | 4 | 9 | 2 | 2 | 2 | 3 | 13 | 2 | 3 | 3 | 5 | 4 | 2 | 1 | 2 | 2 | 11 | NULL
locate('b', s, i8)                                int             0 | 0 | 0 | 0 | NULL | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0
locate('', s, i32)                                int             0 | 1 | 0 | 0 | NULL | 0 | 1 | 1 | 0 | 1 | 0 | 1 | 1 | 1 | 0 | 1 | 0 | 1 | 0 | 0 | 1 | 0 | 1 | 1
locate('a', 'banana', 3)                          int             4
locate('a', 'banana', 0)                          int             0
locate('a', 'banana', -1)                         int             0
locate('a', 'banana', 2147483647)                 int             0
locate('', 'abc', 0)                              int             0
locate('', 'abc', 9)                              int             1
locate('a', 'a', NULL)                            int             0
locate(NULL, 'a', NULL)                           int             0
locate(NULL, 'a')                                 int             NULL
locate('a', NULL, 1)                              int             NULL
locate(s, s_b, i16)                               int             0 | 0 | 4 | 0 | NULL | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0
position('é', '😀éé', 3)                           int             3
position('é' IN '😀éé')                            int             2
position(s_b IN s)                                int             0 | 0 | 0 | 0 | NULL | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 0 | NULL
find_in_set(s, 'a,b,,abc,😀x')                     int             3 | 0 | 1 | 0 | NULL | 4 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 5 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0
find_in_set('b', s)                               int             0 | 0 | 0 | 0 | NULL | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0
find_in_set('b', 'a,b,b')                         int             2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2
find_in_set('a,b', 'a,b')                         int             0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0
find_in_set('', '')                               int             1
find_in_set('', 'a,')                             int             2
find_in_set('a', '')                              int             0
find_in_set(NULL, 'a')                            int             NULL
find_in_set('a', NULL)                            int             NULL
startswith(s, 'a')                                boolean         false | false | true | false | NULL | true | false | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false
startswith(s, s_b)                                boolean         false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | true | false | false | false | NULL
startswith(s || s_b, s)                           boolean         true | true | true | true | NULL | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | NULL
startswith('a', '')                               boolean         true
startswith('é', 'e')                              boolean         false
startswith(NULL, 'a')                             boolean         NULL
startswith('a', NULL)                             boolean         NULL
endswith(s, 'c')                                  boolean         false | false | false | false | NULL | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
endswith(s, s_b)                                  boolean         false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | true | false | false | false | NULL
endswith(s || s_b, s_b)                           boolean         true | true | true | true | NULL | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | NULL
endswith('a', '')                                 boolean         true
endswith('😀', '\uffff')                           boolean         false
endswith(NULL, 'a')                               boolean         NULL
endswith('a', NULL)                               boolean         NULL
contains(s, 'b')                                  boolean         false | false | false | false | NULL | true | false | false | false | false | false | false | false | false | false | false | true | true | false | false | false | false | false | false
contains(s, s_b)                                  boolean         false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | true | false | false | false | NULL
contains(s || s_b, s_b)                           boolean         true | true | true | true | NULL | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | NULL
contains('', '')                                  boolean         true
contains('a\u0000b', '\u0000')                    boolean         true
contains(NULL, 'a')                               boolean         NULL
contains('a', NULL)                               boolean         NULL

-- delimiters of substring_index may share letters
substring_index('www.a.b', '.', 2)                string          "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a" | "www.a"
substring_index('www.a.b', '.', -2)               string          "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b"
substring_index('www.a.b', '.', 9)                string          "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b"
substring_index('www.a.b', '.', -9)               string          "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b" | "www.a.b"
substring_index('www.a.b', '.', 0)                string          "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | ""
substring_index('www.a.b', '', 1)                 string          "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | ""
substring_index('aaaa', 'aa', 2)                  string          "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a"
substring_index('aaaa', 'aa', -2)                 string          "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a"
substring_index('aaaaa', 'aa', 3)                 string          "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa" | "aa"
substring_index('aaaaa', 'aaa', -2)               string          "a"
substring_index('a😀b😀c', '😀', -1)                 string          "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c"
substring_index(s, 'b', 1)                        string          "" | " " | "a" | "A" | NULL | "a" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0n" | "a\x00" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
substring_index(s, s_b, i8)                       string          NULL | "" | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | NULL | "" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "" | "\uffff" | "\U00010400" | NULL | NULL
substring_index(s || s_b, ' ', i32)               string          "" | "" | NULL | "A\xdf" | NULL | "abc\u0130" | "ABC\u0391\u03a3" | "  pad \t \u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xdf\xe9" | "\u0149e\u0301" | "\u0130\U0001f600x" | "\u0391\u03a3\xa0nb\xa0" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3a\x00b" | "\xe9\u01c5" | "e\u0301\ufb03" | "\U0001f600x\uffff" | "" | "a\x00bit's" | NULL | "\ufb03" | "\uffff " | "\U00010400a" | "it's \\ `q`A" | NULL
substring_index('a.b', '.', 2147483647)           string          "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b"
substring_index('a.b', '.', -2147483648)          string          "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b" | "a.b"
substring_index('', '.', 1)                       string          ""
substring_index(NULL, '.', 1)                     string          NULL
substring_index('a', NULL, 1)                     string          NULL
substring_index('a', '.', NULL)                   string          NULL

-- split_part: a delimiter is text, not a pattern; part 0 is NULL
split_part('a.b.c', '.', 2)                       string          "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b"
split_part('a.b.c', '.', -1)                      string          "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c" | "c"
split_part('a.b.c', '.', 4)                       string          "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | ""
split_part('a.b.c', '.', -4)                      string          "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | ""
split_part('a.b.c', '.', 0)                       string          NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
split_part('a.b.c', '', 1)                        string          "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c"
split_part('a.b.c', '', 2)                        string          "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | ""
split_part('a.b.c', '', -1)                       string          "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c" | "a.b.c"
split_part('aaaaa', 'aa', 3)                      string          "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a"
split_part('', '.', 1)                            string          ""
split_part('.a.', '.', 3)                         string          ""
split_part('a😀b', '😀', 2)                         string          "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b"
split_part(s, 'b', 2)                             string          "" | "" | "" | "" | NULL | "c" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "\xa0" | "" | "" | "" | "" | "" | "" | ""
split_part(s || ',' || s_b, ',', -1)              string          "abc" | "ABC" | "  pad \t " | "\xdf" | NULL | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0" | "" | " " | "a" | "A" | NULL
split_part(s, s_b, i8)                            string          NULL | NULL | "a" | "A" | NULL | "" | "" | "" | "" | "" | "" | NULL | NULL | "\xe9" | "e\u0301" | "" | "" | "" | "" | "" | "" | "" | NULL | NULL
split_part('a|b', '|', 2147483647)                string          "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | ""
split_part('a.b', '.', -2147483648)               string          "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | ""
split_part(NULL, '.', 1)                          string          NULL
split_part('a', NULL, 1)                          string          NULL
split_part('a', '.', NULL)                        string          NULL

-- single characters
ascii(s)                                          int             0 | 32 | 97 | 65 | NULL | 97 | 65 | 32 | 223 | 329 | 304 | 913 | 927 | 233 | 101 | 128512 | 160 | 97 | 453 | 64259 | 65535 | 66560 | 105 | 48
ascii('')                                         int             0
ascii('😀')                                        int             128512
ascii('é')                                        int             233
ascii('\u0000a')                                  int             0
ascii(NULL)                                       int             NULL
ascii(upper(s))                                   int             0 | 32 | 65 | 65 | NULL | 65 | 65 | 32 | 83 | 700 | 304 | 913 | 927 | 201 | 69 | 128512 | 160 | 65 | 452 | 70 | 65535 | 66560 | 73 | 48
chr(65)                                           string          "A"
chr(0)                                            string          "\x00"
chr(256)                                          string          "\x00"
chr(233)                                          string          "\xe9"
chr(-1)                                           string          ""
chr(9223372036854775807)                          string          "\xff"
chr(i32)                                          string          "\x00" | "\x01" | NULL | "" | "\x02" | "" | "\n" | "\xff" | "" | "\x05" | "" | "\x05" | "\x0f" | "\x19" | "" | "\x01" | "\x00" | "\x01" | NULL | "" | "\x02" | "" | "\n" | "\xff"
chr(i64)                                          string          "\x00" | "\x01" | "" | NULL | "\x02" | "" | "\n" | "\xff" | "" | "\x01" | "4" | "" | "\x19" | "" | "\x00" | "\x01" | "" | NULL | "\x02" | "" | "\n" | "\xff" | "" | "\x01"
chr(i8)                                           string          NULL | "\x00" | "\x01" | "" | "\x02" | "\x07" | "" | "\x7f" | "" | "d" | "" | NULL | "\x00" | "\x01" | "" | "\x02" | "\x07" | "" | "\x7f" | "" | "d" | "" | NULL | "\x00"
chr(NULL)                                         string          NULL
char(321)                                         string          "A"
char(i16)                                         string          "\x00" | NULL | "\x01" | "" | "\x03" | "\x80" | "" | "\xff" | "" | "\xff" | "" | "\x00" | NULL | "\x01" | "" | "\x03" | "\x80" | "" | "\xff" | "" | "\xff" | "" | "\x00" | NULL
quote(s)                                          string          "''" | "' '" | "'a'" | "'A'" | NULL | "'abc'" | "'ABC'" | "'  pad \t '" | "'\xdf'" | "'\u0149'" | "'\u0130'" | "'\u0391\u03a3'" | "'\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3'" | "'\xe9'" | "'e\u0301'" | "'\U0001f600x'" | "'\xa0nb\xa0'" | "'a\x00b'" | "'\u01c5'" | "'\ufb03'" | "'\uffff'" | "'\U00010400'" | "'it\\'s \\ `q`'" | "'0'"
quote('')                                         string          "''"
quote('a\'b')                                     string          "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'" | "'a\\'b'"
quote('\\')                                       string          "'\\'"
quote('\'\'')                                     string          "'\\'\\''"
quote(NULL)                                       string          NULL
quote(s || '\'')                                  string          "'\\''" | "' \\''" | "'a\\''" | "'A\\''" | NULL | "'abc\\''" | "'ABC\\''" | "'  pad \t \\''" | "'\xdf\\''" | "'\u0149\\''" | "'\u0130\\''" | "'\u0391\u03a3\\''" | "'\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3\\''" | "'\xe9\\''" | "'e\u0301\\''" | "'\U0001f600x\\''" | "'\xa0nb\xa0\\''" | "'a\x00b\\''" | "'\u01c5\\''" | "'\ufb03\\''" | "'\uffff\\''" | "'\U00010400\\''" | "'it\\'s \\ `q`\\''" | "'0\\''"

-- distances and sounds
levenshtein(s, s_b)                               int             3 | 3 | 7 | 1 | NULL | 3 | 3 | 11 | 1 | 2 | 2 | 4 | 12 | 1 | 2 | 2 | 4 | 10 | 1 | 1 | 1 | 1 | 10 | NULL
levenshtein('kitten', 'sitting')                  int             3
levenshtein('', 'abc')                            int             3
levenshtein('abc', '')                            int             3
levenshtein('', '')                               int             0
levenshtein('😀é', 'é😀')                           int             2
levenshtein('ABC', 'abc')                         int             3
levenshtein(repeat('ab', 100), repeat('ba', 90))  int             20
levenshtein('kitten', 'sitting', 3)               int             3
levenshtein('kitten', 'sitting', 2)               int             -1
levenshtein('a', 'a', 0)                          int             0
levenshtein('a', 'b', 0)                          int             -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1
levenshtein('a', 'a', -1)                         int             -1
levenshtein(s, s_b, 3)                            int             3 | 3 | -1 | 1 | NULL | 3 | 3 | -1 | 1 | 2 | 2 | -1 | -1 | 1 | 2 | 2 | -1 | -1 | 1 | 1 | 1 | 1 | -1 | NULL
levenshtein(s, s_b, i8)                           int             NULL | -1 | -1 | -1 | NULL | 3 | -1 | 11 | -1 | 2 | -1 | NULL | -1 | 1 | -1 | 2 | 4 | -1 | 1 | -1 | 1 | -1 | NULL | NULL
levenshtein('a', 'b', 2147483647)                 int             1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1
levenshtein('a', 'b', -2147483648)                int             -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1 | -1
levenshtein(NULL, 'a')                            int             NULL
levenshtein('a', NULL, 1)                         int             NULL
levenshtein('a', 'b', NULL)                       int             NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
soundex(s)                                        string          "" | " " | "A000" | "A000" | NULL | "A120" | "A120" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "E000" | "\U0001f600x" | "\xa0nb\xa0" | "A100" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "I322" | "0"
soundex('Robert')                                 string          "R163"
soundex('Rupert')                                 string          "R163"
soundex('Tymczak')                                string          "T522"
soundex('Pfister')                                string          "P236"
soundex('Honeyman')                               string          "H555"
soundex('Ashcraft')                               string          "A261"
soundex('A')                                      string          "A000"
soundex('')                                       string          ""
soundex('1abc')                                   string          "1abc"
soundex('éabc')                                   string          "\xe9abc"
soundex('Jé-jJ')                                  string          "J200"
soundex('BbFf-b')                                 string          "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100" | "B100"
soundex(NULL)                                     string          NULL
luhn_check('79927398713')                         boolean         true
luhn_check('79927398714')                         boolean         false
luhn_check('')                                    boolean         false
luhn_check('0')                                   boolean         true
luhn_check('7992 7398713')                        boolean         false
luhn_check('٠١')                                  boolean         false
luhn_check('𝟎')                                   boolean         false
luhn_check('18')                                  boolean         true
luhn_check(s)                                     boolean         false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | true
luhn_check(NULL)                                  boolean         NULL

-- choice that has other names
nvl2(s, s_b, 'none')                              string          "abc" | "ABC" | "  pad \t " | "\xdf" | "none" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0" | "" | " " | "a" | "A" | NULL
nvl2(i32, 1, 2.5)                                 decimal(11,1)   1.0 | 1.0 | 2.5 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 2.5 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0
nvl2(NULL, 1, NULL)                               int             NULL
nvl2('a', i8, i64)                                bigint          NULL | 0 | 1 | -1 | 2 | 7 | -7 | 127 | -128 | 100 | -100 | NULL | 0 | 1 | -1 | 2 | 7 | -7 | 127 | -128 | 100 | -100 | NULL | 0
zeroifnull(i32)                                   int             0 | 1 | 0 | -1 | 2 | -7 | 10 | 2147483647 | -2147483648 | 46341 | -65536 | 5 | 15 | 25 | -25 | 16777217 | 0 | 1 | 0 | -1 | 2 | -7 | 10 | 2147483647
zeroifnull(f64)                                   double          0.0 | -0.0 | 1.0 | -1.5 | 0.5 | 0.0 | 2.5 | -2.5 | 0.1 | 0.3 | Infinity | -Infinity | NaN | 1.7976931348623157e+308 | 5e-324 | 1e+22 | 9007199254740992.0 | 9.223372036854775e+18 | -9.223372036854776e+18 | 1.005 | 2.675 | 123456.789 | -0.05 | 1e-07
zeroifnull(d5_2)                                  decimal(12,2)   0.00 | 1.00 | -1.00 | 0.01 | 999.99 | -999.99 | 0.00 | 2.50 | 0.05 | -0.05 | 9.99 | 125.45 | 0.00 | 1.00 | -1.00 | 0.01 | 999.99 | -999.99 | 0.00 | 2.50 | 0.05 | -0.05 | 9.99 | 125.45
zeroifnull(d38_18)                                decimal(38,18)  0.000000000000000000 | 1.000000000000000000 | -1.500000000000000000 | 99999999999999999999.999999999999999999 | -99999999999999999999.999999999999999999 | 0.000000000000000001 | 0.500000000000000000 | 123.456000000000000000 | 3.000000000000000000 | -12345678901234567890.123456789012345678 | 0.000000000000000000 | 0.000000000000000000 | 1.000000000000000000 | -1.500000000000000000 | 99999999999999999999.999999999999999999 | -99999999999999999999.999999999999999999 | 0.000000000000000001 | 0.500000000000000000 | 123.456000000000000000 | 3.000000000000000000 | -12345678901234567890.123456789012345678 | 0.000000000000000000 | 0.000000000000000000 | 1.000000000000000000
zeroifnull(i8)                                    int             0 | 0 | 1 | -1 | 2 | 7 | -7 | 127 | -128 | 100 | -100 | 0 | 0 | 1 | -1 | 2 | 7 | -7 | 127 | -128 | 100 | -100 | 0 | 0
nullifzero(i32)                                   int             NULL | 1 | NULL | -1 | 2 | -7 | 10 | 2147483647 | -2147483648 | 46341 | -65536 | 5 | 15 | 25 | -25 | 16777217 | NULL | 1 | NULL | -1 | 2 | -7 | 10 | 2147483647
nullifzero(f64)                                   double          NULL | NULL | 1.0 | -1.5 | 0.5 | NULL | 2.5 | -2.5 | 0.1 | 0.3 | Infinity | -Infinity | NaN | 1.7976931348623157e+308 | 5e-324 | 1e+22 | 9007199254740992.0 | 9.223372036854775e+18 | -9.223372036854776e+18 | 1.005 | 2.675 | 123456.789 | -0.05 | 1e-07
nullifzero(d5_2)                                  decimal(5,2)    NULL | 1.00 | -1.00 | 0.01 | 999.99 | -999.99 | NULL | 2.50 | 0.05 | -0.05 | 9.99 | 125.45 | NULL | 1.00 | -1.00 | 0.01 | 999.99 | -999.99 | NULL | 2.50 | 0.05 | -0.05 | 9.99 | 125.45
nullifzero(0)                                     int             NULL
nullifzero(1.50)                                  decimal(3,2)    1.50
nullifzero(-0.0D)                                 double          NULL
equal_null(s, s_b)                                boolean         false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
equal_null(NULL, NULL)                            boolean         true
equal_null(NULL, 1)                               boolean         false
equal_null(f64, f64_b)                            boolean         false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
equal_null(1, 1.0)                                boolean         true
decode(i32, 0, 'zero', 1, 'one', 'more')          string          "zero" | "one" | "more" | "more" | "more" | "more" | "more" | "more" | "more" | "more" | "more" | "more" | "more" | "more" | "more" | "more" | "zero" | "one" | "more" | "more" | "more" | "more" | "more" | "more"
decode(i32, 0, 'zero', NULL, 'null')              string          "zero" | NULL | "null" | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | "zero" | NULL | "null" | NULL | NULL | NULL | NULL | NULL
decode(s, 'a', 1, s_b, 2, 3)                      int             3 | 3 | 1 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3
decode(NULL, 1, 'a', NULL, 'b', 'c')              string          "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b"
decode(f64, 0.0D, 'zero', 1, 'one')               string          "zero" | "zero" | "one" | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
decode(1, 2, 3, NULL)                             int             NULL
decode(i32, 1, 2, 0, 0.5, i8)                     decimal(11,1)   0.5 | 2.0 | 1.0 | -1.0 | 2.0 | 7.0 | -7.0 | 127.0 | -128.0 | 100.0 | -100.0 | NULL | 0.0 | 1.0 | -1.0 | 2.0 | 0.5 | 2.0 | 127.0 | -128.0 | 100.0 | -100.0 | NULL | 0.0
elt(1, 'a', 'b')                                  string          "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a"
elt(2, 'a', NULL)                                 string          NULL
elt(1, s, s_b)                                    string          "" | " " | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
elt(i8, s, s_b, 'c')                              string          NULL | NULL | "a" | NULL | "\u0149" | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | "\xe9" | NULL | "\uffff" | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
elt(NULL, 'a')                                    string          NULL
elt(2, s, s_b)                                    string          "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0" | "" | " " | "a" | "A" | NULL

-- literals
r'a\nb'                                           string          "a\\nb"
R"C:\new"                                         string          "C:\\new"
r''                                               string          ""
length(r'\\')                                     int             2
trim(TRAILING (concat('x', '')) FROM 'axx')       string          "a"
