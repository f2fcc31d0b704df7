-- Recorded by `python -m tests.semantics.record` from Spark 4.3.0, JDK 17, ANSI true, session zone UTC.
-- Columns are those of tests/semantics/edges.py; their cases have one value for each of its rows.
-- LIKE: all of the text; % is any text, also lines, _ one code point
s LIKE 'a%'                                                   boolean        false | false | true | false | NULL | true | false | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false
s LIKE '%a'                                                   boolean        false | false | true | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s LIKE '%a%'                                                  boolean        false | false | true | false | NULL | true | false | true | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false
s LIKE 'abc'                                                  boolean        false | false | false | false | NULL | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s LIKE ''                                                     boolean        true | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s LIKE '%'                                                    boolean        true | true | true | true | NULL | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
s LIKE '_'                                                    boolean        false | true | true | true | NULL | false | false | false | true | true | true | false | false | true | false | false | false | false | true | true | true | true | false | true
s LIKE '__'                                                   boolean        false | false | false | false | NULL | false | false | false | false | false | false | true | false | false | true | true | false | false | false | false | false | false | false | false
s LIKE '_x'                                                   boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false | false | false
s LIKE '%b%c%'                                                boolean        false | false | false | false | NULL | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s LIKE '%\x00%'                                               boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s LIKE 'a_b'                                                  boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false
s NOT LIKE '%a%'                                              boolean        true | true | false | true | NULL | false | true | false | true | true | true | true | true | true | true | true | true | false | true | true | true | true | true | true
s LIKE '%`%\'%' OR s LIKE '%\'%`%'                            boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | true | false
s LIKE '%\\\\%'                                               boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | true | false
s LIKE 'it\'s _\\\\ %'                                        boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s LIKE '\\\\'                                                 boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s LIKE '😀_'                                                   boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false | false | false
s LIKE '%\t%'                                                 boolean        false | false | false | false | NULL | false | false | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
'a\nb\r\nc' LIKE 'a%c'                                        boolean        true
'50%' LIKE '50\%'                                             boolean        true
'50x' LIKE '50\%'                                             boolean        false
'a_b' LIKE 'a\_b'                                             boolean        true
'axb' LIKE 'a\_b'                                             boolean        false
'50%' LIKE '50/%' ESCAPE '/'                                  boolean        true
'a/b' LIKE 'a//b' ESCAPE '/'                                  boolean        true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
'a\\b' LIKE 'a\\b' ESCAPE '/'                                 boolean        true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
'%' LIKE '%%' ESCAPE '%'                                      boolean        true
'_x' LIKE '__%' ESCAPE '_'                                    boolean        true
'Xa%' LIKE 'XXaX%' ESCAPE 'X'                                 boolean        true
'é' LIKE '_'                                                  boolean        true
'é' LIKE '__'                                                 boolean        false
'aaab' LIKE '%a%a%a%b'                                        boolean        true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
'aab' LIKE '%a%a%a%b'                                         boolean        false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
'abab' LIKE '%ab'                                             boolean        true
'aba' LIKE '%ab'                                              boolean        false
'xaxbx' LIKE '%a_b%'                                          boolean        true
'ab' LIKE 'a%b'                                               boolean        true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
'a' LIKE 'a%a'                                                boolean        false
'.*' LIKE '.*'                                                boolean        true
'ab' LIKE '.*'                                                boolean        false
'[a]' LIKE '[a]'                                              boolean        true
NULL LIKE 'a'                                                 boolean        NULL
upper(s) LIKE 'ABC%'                                          boolean        false | false | false | false | NULL | true | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s LIKE ANY ('a%', '%x')                                       boolean        false | false | true | false | NULL | true | false | false | false | false | false | false | false | false | false | true | false | true | false | false | false | false | false | false
s LIKE ALL ('%a%', '%b%')                                     boolean        false | false | false | false | NULL | true | false | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false
s LIKE SOME ('a%', 'A%')                                      boolean        false | false | true | true | NULL | true | true | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false
-- ILIKE: both sides by the JVM's lower case
s ILIKE 'A%'                                                  boolean        false | false | true | true | NULL | true | true | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false
s ILIKE '%C'                                                  boolean        false | false | false | false | NULL | true | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s ILIKE 'abc'                                                 boolean        false | false | false | false | NULL | true | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s ILIKE 'ασ'                                                  boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s ILIKE 'ΑΣ%'                                                 boolean        false | false | false | false | NULL | false | false | false | false | false | false | true | false | false | false | false | false | false | false | false | false | false | false | false
s ILIKE '%ς'                                                  boolean        false | false | false | false | NULL | false | false | false | false | false | false | true | true | false | false | false | false | false | false | false | false | false | false | false
s ILIKE 'İ'                                                   boolean        false | false | false | false | NULL | false | false | false | false | false | true | false | false | false | false | false | false | false | false | false | false | false | false | false
s ILIKE 'i%'                                                  boolean        false | false | false | false | NULL | false | false | false | false | false | true | false | false | false | false | false | false | false | false | false | false | false | true | false
s ILIKE '𐐀'                                                   boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | true | false | false
s NOT ILIKE 'ABC'                                             boolean        true | true | true | true | NULL | false | false | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
upper(s) ILIKE 'ss'                                           boolean        false | false | false | false | NULL | false | false | false | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
lower(s) ILIKE '%A%'                                          boolean        false | false | true | true | NULL | true | true | true | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false
'ß' ILIKE 'SS'                                                boolean        false
'A%' ILIKE 'a/%' ESCAPE '/'                                   boolean        true
'ŉ' ILIKE 'ʼn'                                                boolean        false
s ILIKE ANY ('ABC', 'é')                                      boolean        false | false | false | false | NULL | true | true | false | false | false | false | false | false | true | false | false | false | false | false | false | false | false | false | false
-- RLIKE: somewhere in the text
s RLIKE 'a'                                                   boolean        false | false | true | false | NULL | true | false | true | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false
s RLIKE '^a'                                                  boolean        false | false | true | false | NULL | true | false | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false
s RLIKE 'c$'                                                  boolean        false | false | false | false | NULL | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s RLIKE '^.$'                                                 boolean        false | true | true | true | NULL | false | false | false | true | true | true | false | false | true | false | false | false | false | true | true | true | true | false | true
s RLIKE '^..$'                                                boolean        false | false | false | false | NULL | false | false | false | false | false | false | true | false | false | true | true | false | false | false | false | false | false | false | false
s RLIKE r'\d'                                                 boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | true
s RLIKE r'\D'                                                 boolean        false | true | true | true | NULL | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | false
s RLIKE r'\s'                                                 boolean        false | true | false | false | NULL | false | false | true | false | false | false | false | true | false | false | false | false | false | false | false | false | false | true | false
s RLIKE r'^\S+$'                                              boolean        false | false | true | true | NULL | true | true | false | true | true | true | true | false | true | true | true | true | true | true | true | true | true | false | true
s RLIKE r'\w'                                                 boolean        false | false | true | true | NULL | true | true | true | false | false | false | false | false | false | true | true | true | true | false | false | false | false | true | true
s RLIKE r'^\W*$'                                              boolean        true | true | false | false | NULL | false | false | false | true | true | true | true | true | true | false | false | false | false | true | true | true | true | false | false
s RLIKE '[a-c]{3}'                                            boolean        false | false | false | false | NULL | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s RLIKE '(?i)[a-c]{3}'                                        boolean        false | false | false | false | NULL | true | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s RLIKE '(?i)ABC|É'                                           boolean        false | false | false | false | NULL | true | true | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
s RLIKE '[^a]'                                                boolean        false | true | false | true | NULL | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
s RLIKE '😀|𐐀'                                                 boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | true | false | false
s RLIKE '^[😀𐐀].?$'                                            boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | true | false | false
s RLIKE r'[\uffff]'                                           boolean        false | false | false | false | NULL | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | true | false | false | false
s RLIKE ''                                                    boolean        true | true | true | true | NULL | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
s REGEXP '^a|^A'                                              boolean        false | false | true | true | NULL | true | true | false | false | false | false | false | false | false | false | false | false | true | false | false | false | false | false | false
s NOT RLIKE 'a'                                               boolean        true | true | false | true | NULL | false | true | false | true | true | true | true | true | true | true | true | true | false | true | true | true | true | true | true
s NOT REGEXP '^$'                                             boolean        false | true | true | true | NULL | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
regexp_like(s, 'b')                                           boolean        false | false | false | false | NULL | true | false | false | false | false | false | false | false | false | false | false | true | true | false | false | false | false | false | false
regexp_like(s, r'\p{Lower}')                                  boolean        false | false | true | false | NULL | true | false | true | false | false | false | false | false | false | true | true | true | true | false | false | false | false | true | false
regexp_like(s, r'^\P{ASCII}')                                 boolean        false | false | false | false | NULL | false | false | false | true | true | true | true | true | true | false | true | true | false | true | true | true | true | false | false
regexp_like(concat(s, s_b), '(.)(.).?\\1')                    boolean        false | false | true | false | NULL | false | false | true | false | false | false | true | true | false | false | false | true | true | false | false | false | false | true | NULL
regexp_like(NULL, 'a')                                        boolean        NULL
-- $ is the end, or before the last line's end, whichever it is; . is none of them
'a\n' RLIKE 'a$'                                              boolean        true
'a\r\n' RLIKE 'a$'                                            boolean        true
'a\r\n' RLIKE 'a\r$'                                          boolean        false
'a\n\n' RLIKE 'a$'                                            boolean        false
'a\r' RLIKE 'a$'                                              boolean        true
'a\u0085' RLIKE 'a$'                                          boolean        true
'a\u2028' RLIKE 'a$'                                          boolean        true
'a\u2029' RLIKE 'a$'                                          boolean        true
'a\u000b' RLIKE 'a$'                                          boolean        false
'a\n' RLIKE r'a\z'                                            boolean        false
'a\n' RLIKE r'a\Z'                                            boolean        true
'a\r\n' RLIKE r'a\Z'                                          boolean        true
'a\u0085b' RLIKE 'a.b'                                        boolean        false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
'a\u2028b' RLIKE 'a.b'                                        boolean        false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
'a\rb' RLIKE 'a.b'                                            boolean        false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
'a\u000bb' RLIKE 'a.b'                                        boolean        true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
'a\nb' RLIKE '(?s)a.b'                                        boolean        true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
'a\nb' RLIKE '^b'                                             boolean        false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
'a\nb' RLIKE r'\Aa'                                           boolean        true
'x\u00a0y' RLIKE r'x\sy'                                      boolean        false
'x\u000by' RLIKE r'x\sy'                                      boolean        true
'x\u001cy' RLIKE r'x\sy'                                      boolean        false
'٣' RLIKE r'\d'                                               boolean        false
'é' RLIKE r'\w'                                               boolean        false
'K' RLIKE '(?i)k'                                             boolean        true
'ſ' RLIKE '(?i)s'                                             boolean        false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
'É' RLIKE '(?i)é'                                             boolean        false
'_' RLIKE '(?i)[Z-a]'                                         boolean        true
'z' RLIKE '(?i)[Z-a]'                                         boolean        true
'the cat' RLIKE r'\bcat\b'                                    boolean        true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
'thecat' RLIKE r'\bcat'                                       boolean        false
'thecat' RLIKE r'\Bcat'                                       boolean        true
'a-b' RLIKE '[a-]-[-b]'                                       boolean        true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
'a^' RLIKE '[\\^]$'                                           boolean        true
'a]b' RLIKE 'a]b'                                             boolean        true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
'a}' RLIKE 'a}'                                               boolean        true
'tab\there' RLIKE r'\t'                                       boolean        true
'é' RLIKE r'\u00e9'                                           boolean        true
'A' RLIKE r'\x41'                                             boolean        true
'foobar' RLIKE '(?<=foo)bar'                                  boolean        true
'foobar' RLIKE '(?<!foo)bar'                                  boolean        false
'foobar' RLIKE 'foo(?=bar)'                                   boolean        true
'foobar' RLIKE 'foo(?!bar)'                                   boolean        false
'aaa' RLIKE '^a{2}$'                                          boolean        false
'aaa' RLIKE '^a{2,}$'                                         boolean        true
'aaaa' RLIKE '^a{1,3}$'                                       boolean        false
'aab' RLIKE 'a++b'                                            boolean        true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true | true
'aab' RLIKE '^a*+ab'                                          boolean        false
-- groups: the empty string where nothing matches, or the group took no part
regexp_extract(s, '(a)(b)?', 1)                               string         "" | "" | "a" | "" | NULL | "a" | "" | "a" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "a" | "" | "" | "" | "" | "" | ""
regexp_extract(s, '(a)(b)?', 2)                               string         "" | "" | "" | "" | NULL | "b" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | ""
regexp_extract(s, '(a)(b)?', 0)                               string         "" | "" | "a" | "" | NULL | "ab" | "" | "a" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "a" | "" | "" | "" | "" | "" | ""
regexp_extract(s, '(.)$')                                     string         "" | " " | "a" | "A" | NULL | "c" | "C" | " " | "\xdf" | "\u0149" | "\u0130" | "\u03a3" | "\u03a3" | "\xe9" | "\u0301" | "x" | "\xa0" | "b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "`" | "0"
regexp_extract(s, '([a-z]+)|([A-Z]+)', 2)                     string         "" | "" | "" | "A" | NULL | "" | "ABC" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | ""
regexp_extract('flight AA-1234 to JFK', r'([A-Z]{2})-(\d+)', 2)  string         "1234"
regexp_extract('flight AA-1234 to JFK', r'([A-Z]{2})-(\d+)')  string         "AA"
regexp_extract('a=1;b=2', r'b=(\d+)', 1)                      string         "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2" | "2"
regexp_extract('', 'a*', 0)                                   string         ""
regexp_extract('abc', 'x*', 0)                                string         ""
regexp_extract('aXbX', '(.*?)X', 1)                           string         "a"
regexp_extract('ab', '(?:(a)|(b)){2}', 1)                     string         "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a" | "a"
regexp_extract('aba', '(?:(a)|(b)){3}', 2)                    string         "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b" | "b"
regexp_extract(NULL, 'a', 0)                                  string         NULL
regexp_extract('😀😀x', '(.)x', 1)                              string         "\U0001f600"
regexp_extract_all(s, '[a-z]', 0)                             array<string>  [] | [] | ["a"] | [] | NULL | ["a", "b", "c"] | [] | ["p", "a", "d"] | [] | [] | [] | [] | [] | [] | ["e"] | ["x"] | ["n", "b"] | ["a", "b"] | [] | [] | [] | [] | ["i", "t", "s", "q"] | []
regexp_extract_all(s, '(.)(.)?', 2)                           array<string>  [] | [""] | [""] | [""] | NULL | ["b", ""] | ["B", ""] | [" ", "a", " ", " "] | [""] | [""] | [""] | ["\u03a3"] | ["\u0394", "\u03a3", "\u0395", "\u03a3", "\u03a3", "\u03a3"] | [""] | ["\u0301"] | ["x"] | ["n", "\xa0"] | ["\x00", ""] | [""] | [""] | [""] | [""] | ["t", "s", "\\", "`", "`"] | [""]
regexp_extract_all(s, '(.)')                                  array<string>  [] | [" "] | ["a"] | ["A"] | NULL | ["a", "b", "c"] | ["A", "B", "C"] | [" ", " ", "p", "a", "d", " ", "\t", " "] | ["\xdf"] | ["\u0149"] | ["\u0130"] | ["\u0391", "\u03a3"] | ["\u039f", "\u0394", "\u03a5", "\u03a3", "\u03a3", "\u0395", "\u03a5", "\u03a3", " ", "\u03a3", "\u0391", "\u03a3"] | ["\xe9"] | ["e", "\u0301"] | ["\U0001f600", "x"] | ["\xa0", "n", "b", "\xa0"] | ["a", "\x00", "b"] | ["\u01c5"] | ["\ufb03"] | ["\uffff"] | ["\U00010400"] | ["i", "t", "'", "s", " ", "\\", " ", "`", "q", "`"] | ["0"]
regexp_extract_all('a1b22c', r'([a-z])(\d+)?', 2)             array<string>  ["1", "22", ""]
regexp_extract_all('a1b22c', r'\d+', 0)                       array<string>  ["1", "22"]
regexp_extract_all('', 'a', 0)                                array<string>  []
regexp_extract_all('aaaa', 'aa', 0)                           array<string>  ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"] | ["aa", "aa"]
regexp_extract_all(NULL, 'a', 0)                              array<string>  NULL
regexp_substr(s, '[a-z]+')                                    string         NULL | NULL | "a" | NULL | NULL | "abc" | NULL | "pad" | NULL | NULL | NULL | NULL | NULL | NULL | "e" | "x" | "nb" | "a" | NULL | NULL | NULL | NULL | "it" | NULL
regexp_substr(s, 'x*')                                        string         NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
regexp_substr('a1b22', r'\d\d')                               string         "22"
regexp_substr('abc', 'x')                                     string         NULL
regexp_substr('', '')                                         string         NULL
regexp_substr(NULL, 'a')                                      string         NULL
regexp_count(s, '[a-zA-Z]')                                   int            0 | 0 | 1 | 1 | NULL | 3 | 3 | 3 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 1 | 2 | 2 | 0 | 0 | 0 | 0 | 4 | 0
regexp_count(s, '.')                                          int            0 | 1 | 1 | 1 | NULL | 3 | 3 | 8 | 1 | 1 | 1 | 2 | 12 | 1 | 2 | 2 | 4 | 3 | 1 | 1 | 1 | 1 | 10 | 1
regexp_count('aaaa', 'aa')                                    int            2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2
regexp_count('', 'a')                                         int            0
regexp_count('😀a😀', '😀')                                      int            2
regexp_count(NULL, 'a')                                       int            NULL
-- positions count code points
regexp_instr(s, '[a-z]')                                      int            0 | 0 | 1 | 0 | NULL | 1 | 0 | 3 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 2 | 2 | 1 | 0 | 0 | 0 | 0 | 1 | 0
regexp_instr(s, '[^a-z]')                                     int            0 | 1 | 0 | 1 | NULL | 0 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 2 | 1 | 1 | 2 | 1 | 1 | 1 | 1 | 3 | 1
regexp_instr('😀b', 'b')                                       int            2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2
regexp_instr('aé😀𐐀b', 'b')                                    int            5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5 | 5
regexp_instr('abc', 'x')                                      int            0
regexp_instr('abc', 'c$')                                     int            3
regexp_instr(NULL, 'a')                                       int            NULL
-- replacing: $1 is a group, by as many digits as there are groups
regexp_replace(s, 'a', 'X')                                   string         "" | " " | "X" | "A" | NULL | "Xbc" | "ABC" | "  pXd \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "X\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
regexp_replace(s, '[a-z]+', '<$0>')                           string         "" | " " | "<a>" | "A" | NULL | "<abc>" | "ABC" | "  <pad> \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "<e>\u0301" | "\U0001f600<x>" | "\xa0<nb>\xa0" | "<a>\x00<b>" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "<it>'<s> \\ `<q>`" | "0"
regexp_replace(s, '.', '-')                                   string         "" | "-" | "-" | "-" | NULL | "---" | "---" | "--------" | "-" | "-" | "-" | "--" | "------------" | "-" | "--" | "--" | "----" | "---" | "-" | "-" | "-" | "-" | "----------" | "-"
regexp_replace(s, r'\s+', ' ')                                string         "" | " " | "a" | "A" | NULL | "abc" | "ABC" | " pad " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
regexp_replace(s, '(.)(.)', '$2$1')                           string         "" | " " | "a" | "A" | NULL | "bac" | "BAC" | "  ap d \t" | "\xdf" | "\u0149" | "\u0130" | "\u03a3\u0391" | "\u0394\u039f\u03a3\u03a5\u0395\u03a3\u03a3\u03a5\u03a3 \u03a3\u0391" | "\xe9" | "\u0301e" | "x\U0001f600" | "n\xa0\xa0b" | "\x00ab" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "tis'\\ ` `q" | "0"
regexp_replace('abc', '(x)?b', '[$1]')                        string         "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c" | "a[]c"
regexp_replace('abc', '(b)', '$11')                           string         "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c" | "ab1c"
regexp_replace('abc', '(b)', r'\$1')                          string         "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c" | "a$1c"
regexp_replace('abc', 'b', r'\\')                             string         "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c" | "a\\c"
regexp_replace('abc', 'b', r'\x')                             string         "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc" | "axc"
regexp_replace('a.b.c', r'\.', '$0$0')                        string         "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c" | "a..b..c"
regexp_replace('abcdefghijkl', '(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)', '$11$1$12')  string         "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l" | "kaa2l"
regexp_replace('aaa', 'aa', 'b')                              string         "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba" | "ba"
regexp_replace('', 'a', 'b')                                  string         "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | "" | ""
regexp_replace('2013-11-15', r'(\d+)-(\d+)-(\d+)', '$3/$2/$1')  string         "15/11/2013"
regexp_replace(NULL, 'a', 'b')                                string         NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
regexp_replace('😀x', '[^x]', '')                              string         "x"
-- splitting keeps what is empty, also at the end
split(s, ' ')                                                 array<string>  [""] | ["", ""] | ["a"] | ["A"] | NULL | ["abc"] | ["ABC"] | ["", "", "pad", "\t", ""] | ["\xdf"] | ["\u0149"] | ["\u0130"] | ["\u0391\u03a3"] | ["\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3", "\u03a3\u0391\u03a3"] | ["\xe9"] | ["e\u0301"] | ["\U0001f600x"] | ["\xa0nb\xa0"] | ["a\x00b"] | ["\u01c5"] | ["\ufb03"] | ["\uffff"] | ["\U00010400"] | ["it's", "\\", "`q`"] | ["0"]
split(s, '')                                                  array<string>  [""] | [" "] | ["a"] | ["A"] | NULL | ["a", "b", "c"] | ["A", "B", "C"] | [" ", " ", "p", "a", "d", " ", "\t", " "] | ["\xdf"] | ["\u0149"] | ["\u0130"] | ["\u0391", "\u03a3"] | ["\u039f", "\u0394", "\u03a5", "\u03a3", "\u03a3", "\u0395", "\u03a5", "\u03a3", " ", "\u03a3", "\u0391", "\u03a3"] | ["\xe9"] | ["e", "\u0301"] | ["\U0001f600", "x"] | ["\xa0", "n", "b", "\xa0"] | ["a", "\x00", "b"] | ["\u01c5"] | ["\ufb03"] | ["\uffff"] | ["\U00010400"] | ["i", "t", "'", "s", " ", "\\", " ", "`", "q", "`"] | ["0"]
split(s, '[a-z]')                                             array<string>  [""] | [" "] | ["", ""] | ["A"] | NULL | ["", "", "", ""] | ["ABC"] | ["  ", "", "", " \t "] | ["\xdf"] | ["\u0149"] | ["\u0130"] | ["\u0391\u03a3"] | ["\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3"] | ["\xe9"] | ["", "\u0301"] | ["\U0001f600", ""] | ["\xa0", "", "\xa0"] | ["", "\x00", ""] | ["\u01c5"] | ["\ufb03"] | ["\uffff"] | ["\U00010400"] | ["", "", "'", " \\ `", "`"] | ["0"]
split(s, 'b', 2)                                              array<string>  [""] | [" "] | ["a"] | ["A"] | NULL | ["a", "c"] | ["ABC"] | ["  pad \t "] | ["\xdf"] | ["\u0149"] | ["\u0130"] | ["\u0391\u03a3"] | ["\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3"] | ["\xe9"] | ["e\u0301"] | ["\U0001f600x"] | ["\xa0n", "\xa0"] | ["a\x00", ""] | ["\u01c5"] | ["\ufb03"] | ["\uffff"] | ["\U00010400"] | ["it's \\ `q`"] | ["0"]
split('a,b,,c,,', ',')                                        array<string>  ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""]
split('a,b,,c,,', ',', 0)                                     array<string>  ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""]
split('a,b,,c,,', ',', -1)                                    array<string>  ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""] | ["a", "b", "", "c", "", ""]
split('a,b,,c,,', ',', 3)                                     array<string>  ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"] | ["a", "b", ",c,,"]
split('a,b,,c,,', ',', 1)                                     array<string>  ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"] | ["a,b,,c,,"]
split(',a', ',')                                              array<string>  ["", "a"]
split('', ',')                                                array<string>  [""]
split('', '')                                                 array<string>  [""]
split('abc', '')                                              array<string>  ["a", "b", "c"]
split('abc', '', 2)                                           array<string>  ["a", "bc"]
split('abc', '', 3)                                           array<string>  ["a", "b", "c"]
split('abc', '', 5)                                           array<string>  ["a", "b", "c"]
split('a😀c', '', 2)                                           array<string>  ["a", "\U0001f600c"]
split('a1b22c', r'\d+')                                       array<string>  ["a", "b", "c"]
split('a1b22c', r'(\d)+', 2)                                  array<string>  ["a", "b22c"]
split('oneXtwoYthree', '[XY]')                                array<string>  ["one", "two", "three"]
split('a.b', r'\.')                                           array<string>  ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"]
split('a.b', '.')                                             array<string>  ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""] | ["", "", "", ""]
split('a\\b', r'\\')                                          array<string>  ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"] | ["a", "b"]
split(NULL, ',')                                              array<string>  NULL
