-- Recorded by `python -m tests.semantics.record` from Spark 4.3.0, JDK 17, ANSI true, session zone UTC.
-- Columns are those of tests/semantics/edges.py; their cases have one value for each of its rows.
-- bytes in place of text: they are counted, cut and compared as bytes without a sign
length(bin)                                     int      0 | 1 | 2 | NULL | 3 | 2 | 1 | 2 | 6 | 8 | 33 | 0 | 1 | 2 | NULL | 3 | 2 | 1 | 2 | 6 | 8 | 33 | 0 | 1
length(X'80')                                   int      1
octet_length(bin)                               int      0 | 1 | 2 | NULL | 3 | 2 | 1 | 2 | 6 | 8 | 33 | 0 | 1 | 2 | NULL | 3 | 2 | 1 | 2 | 6 | 8 | 33 | 0 | 1
octet_length(X'')                               int      0
bit_length(bin)                                 int      0 | 8 | 16 | NULL | 24 | 16 | 8 | 16 | 48 | 64 | 264 | 0 | 8 | 16 | NULL | 24 | 16 | 8 | 16 | 48 | 64 | 264 | 0 | 8
bit_length(X'00')                               int      8
bin || bin_b                                    binary   x'c328' | x'0061' | x'fffe7f80' | NULL | x'6162630001020304050607' | x'c328303132333435363738396162636465663031323334353637383961626364656621' | x'61' | x'7f8000' | x'c3a9f09f9880fffe' | NULL | x'303132333435363738396162636465663031323334353637383961626364656621616263' | x'c328' | x'0061' | x'fffe7f80' | NULL | x'6162630001020304050607' | x'c328303132333435363738396162636465663031323334353637383961626364656621' | x'61' | x'7f8000' | x'c3a9f09f9880fffe' | NULL | x'303132333435363738396162636465663031323334353637383961626364656621616263' | x'c328' | x'0061'
concat(bin, X'00', bin_b)                       binary   x'00c328' | x'000061' | x'fffe007f80' | NULL | x'616263000001020304050607' | x'c32800303132333435363738396162636465663031323334353637383961626364656621' | x'6100' | x'7f800000' | x'c3a9f09f988000fffe' | NULL | x'30313233343536373839616263646566303132333435363738396162636465662100616263' | x'00c328' | x'000061' | x'fffe007f80' | NULL | x'616263000001020304050607' | x'c32800303132333435363738396162636465663031323334353637383961626364656621' | x'6100' | x'7f800000' | x'c3a9f09f988000fffe' | NULL | x'30313233343536373839616263646566303132333435363738396162636465662100616263' | x'00c328' | x'000061'
concat(X'41', CAST(NULL AS BINARY))             binary   NULL
concat(bin)                                     binary   x'' | x'00' | x'fffe' | NULL | x'616263' | x'c328' | x'61' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00' | x'fffe' | NULL | x'616263' | x'c328' | x'61' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00'
substring(bin, 2, 3)                            binary   x'' | x'' | x'fe' | NULL | x'6263' | x'28' | x'' | x'80' | x'a9f09f' | x'010203' | x'313233' | x'' | x'' | x'fe' | NULL | x'6263' | x'28' | x'' | x'80' | x'a9f09f' | x'010203' | x'313233' | x'' | x''
substring(bin, i8)                              binary   NULL | x'00' | x'fffe' | NULL | x'6263' | x'' | x'61' | x'' | x'c3a9f09f9880' | x'' | x'303132333435363738396162636465663031323334353637383961626364656621' | NULL | x'00' | x'fffe' | NULL | x'6263' | x'' | x'61' | x'' | x'c3a9f09f9880' | x'' | x'303132333435363738396162636465663031323334353637383961626364656621' | NULL | x'00'
substring(bin, i32, i32_b)                      binary   x'' | x'00' | NULL | NULL | x'6263' | x'' | x'' | x'' | x'' | x'' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'' | NULL | NULL | x'' | x'' | x'61' | NULL | x'' | x'01020304050607' | x'' | x'' | x''
substring(bin, -3, 2)                           binary   x'' | x'' | x'ff' | NULL | x'6162' | x'c3' | x'' | x'7f' | x'9f98' | x'0506' | x'6566' | x'' | x'' | x'ff' | NULL | x'6162' | x'c3' | x'' | x'7f' | x'9f98' | x'0506' | x'6566' | x'' | x''
substring(bin, 0, 2)                            binary   x'' | x'00' | x'fffe' | NULL | x'6162' | x'c328' | x'61' | x'7f80' | x'c3a9' | x'0001' | x'3031' | x'' | x'00' | x'fffe' | NULL | x'6162' | x'c328' | x'61' | x'7f80' | x'c3a9' | x'0001' | x'3031' | x'' | x'00'
substring(X'414243', -2147483648)               binary   x'4142'
substring(X'414243', 2, 2147483647)             binary   x'4243'
substring(bin, 1, -1)                           binary   x'' | x'' | x'' | NULL | x'' | x'' | x'' | x'' | x'' | x'' | x'' | x'' | x'' | x'' | NULL | x'' | x'' | x'' | x'' | x'' | x'' | x'' | x'' | x''
substring(X'414243' FROM 2 FOR 1)               binary   x'42'
left(bin, 2)                                    binary   x'' | x'00' | x'fffe' | NULL | x'6162' | x'c328' | x'61' | x'7f80' | x'c3a9' | x'0001' | x'3031' | x'' | x'00' | x'fffe' | NULL | x'6162' | x'c328' | x'61' | x'7f80' | x'c3a9' | x'0001' | x'3031' | x'' | x'00'
left(bin, i8)                                   binary   NULL | x'' | x'ff' | NULL | x'6162' | x'c328' | x'' | x'7f80' | x'' | x'0001020304050607' | x'' | NULL | x'' | x'ff' | NULL | x'6162' | x'c328' | x'' | x'7f80' | x'' | x'0001020304050607' | x'' | NULL | x''
left(X'4142', -1)                               binary   x''
lpad(bin, 5)                                    binary   x'0000000000' | x'0000000000' | x'000000fffe' | NULL | x'0000616263' | x'000000c328' | x'0000000061' | x'0000007f80' | x'c3a9f09f98' | x'0001020304' | x'3031323334' | x'0000000000' | x'0000000000' | x'000000fffe' | NULL | x'0000616263' | x'000000c328' | x'0000000061' | x'0000007f80' | x'c3a9f09f98' | x'0001020304' | x'3031323334' | x'0000000000' | x'0000000000'
lpad(bin, 5, X'0102')                           binary   x'0102010201' | x'0102010200' | x'010201fffe' | NULL | x'0102616263' | x'010201c328' | x'0102010261' | x'0102017f80' | x'c3a9f09f98' | x'0001020304' | x'3031323334' | x'0102010201' | x'0102010200' | x'010201fffe' | NULL | x'0102616263' | x'010201c328' | x'0102010261' | x'0102017f80' | x'c3a9f09f98' | x'0001020304' | x'3031323334' | x'0102010201' | x'0102010200'
lpad(bin, 5, bin_b)                             binary   x'c328c328c3' | x'6161616100' | x'7f807ffffe' | NULL | x'0001616263' | x'303132c328' | x'61' | x'0000007f80' | x'c3a9f09f98' | NULL | x'3031323334' | x'c328c328c3' | x'6161616100' | x'7f807ffffe' | NULL | x'0001616263' | x'303132c328' | x'61' | x'0000007f80' | x'c3a9f09f98' | NULL | x'3031323334' | x'c328c328c3' | x'6161616100'
lpad(X'414243', 2, X'00')                       binary   x'4142'
lpad(X'41', 3, X'')                             binary   x'41'
lpad(X'41', -1, X'00')                          binary   x''
rpad(bin, 5)                                    binary   x'0000000000' | x'0000000000' | x'fffe000000' | NULL | x'6162630000' | x'c328000000' | x'6100000000' | x'7f80000000' | x'c3a9f09f98' | x'0001020304' | x'3031323334' | x'0000000000' | x'0000000000' | x'fffe000000' | NULL | x'6162630000' | x'c328000000' | x'6100000000' | x'7f80000000' | x'c3a9f09f98' | x'0001020304' | x'3031323334' | x'0000000000' | x'0000000000'
rpad(bin, i8, X'0102')                          binary   NULL | x'' | x'ff' | NULL | x'6162' | x'c3280102010201' | x'' | x'7f800102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201' | x'' | x'00010203040506070102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102' | x'' | NULL | x'' | x'ff' | NULL | x'6162' | x'c3280102010201' | x'' | x'7f800102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201' | x'' | x'00010203040506070102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102' | x'' | NULL | x''
rpad(bin, 5, bin_b)                             binary   x'c328c328c3' | x'0061616161' | x'fffe7f807f' | NULL | x'6162630001' | x'c328303132' | x'61' | x'7f80000000' | x'c3a9f09f98' | NULL | x'3031323334' | x'c328c328c3' | x'0061616161' | x'fffe7f807f' | NULL | x'6162630001' | x'c328303132' | x'61' | x'7f80000000' | x'c3a9f09f98' | NULL | x'3031323334' | x'c328c328c3' | x'0061616161'
rpad(CAST(NULL AS BINARY), 5, X'00')            binary   NULL
reverse(bin)                                    binary   x'' | x'00' | x'feff' | NULL | x'636261' | x'28c3' | x'61' | x'807f' | x'80989ff0a9c3' | x'0706050403020100' | x'216665646362613938373635343332313066656463626139383736353433323130' | x'' | x'00' | x'feff' | NULL | x'636261' | x'28c3' | x'61' | x'807f' | x'80989ff0a9c3' | x'0706050403020100' | x'216665646362613938373635343332313066656463626139383736353433323130' | x'' | x'00'
reverse(X'C3A9')                                binary   x'a9c3'
overlay(bin, X'5859', 2)                        binary   x'5859' | x'005859' | x'ff5859' | NULL | x'615859' | x'c35859' | x'615859' | x'7f5859' | x'c358599f9880' | x'0058590304050607' | x'305859333435363738396162636465663031323334353637383961626364656621' | x'5859' | x'005859' | x'ff5859' | NULL | x'615859' | x'c35859' | x'615859' | x'7f5859' | x'c358599f9880' | x'0058590304050607' | x'305859333435363738396162636465663031323334353637383961626364656621' | x'5859' | x'005859'
overlay(bin, bin_b, i8, i8_b)                   binary   NULL | x'6100' | x'7f80' | NULL | x'610001020304050607' | x'c328303132333435363738396162636465663031323334353637383961626364656621' | NULL | x'7f8000' | x'fffec3a9f09f9880' | NULL | x'616263303132333435363738396162636465663031323334353637383961626364656621' | NULL | x'6100' | x'7f80' | NULL | x'610001020304050607' | x'c328303132333435363738396162636465663031323334353637383961626364656621' | NULL | x'7f8000' | x'fffec3a9f09f9880' | NULL | x'616263303132333435363738396162636465663031323334353637383961626364656621' | NULL | x'6100'
overlay(X'414243', X'58', 0)                    binary   x'58414243'
overlay(X'414243', X'58', -1, 1)                binary   x'58414243'
startswith(bin, X'00')                          boolean  false | true | false | NULL | false | false | false | false | false | true | false | false | true | false | NULL | false | false | false | false | false | true | false | false | true
startswith(bin, bin_b)                          boolean  false | false | false | NULL | false | false | true | false | false | NULL | false | false | false | false | NULL | false | false | true | false | false | NULL | false | false | false
endswith(bin, X'80')                            boolean  false | false | false | NULL | false | false | false | true | true | false | false | false | false | false | NULL | false | false | false | true | true | false | false | false | false
endswith(bin || bin_b, bin_b)                   boolean  true | true | true | NULL | true | true | true | true | true | NULL | true | true | true | true | NULL | true | true | true | true | true | NULL | true | true | true
contains(bin, X'61')                            boolean  false | false | false | NULL | true | false | true | false | false | false | true | false | false | false | NULL | true | false | true | false | false | false | true | false | false
contains(bin, bin_b)                            boolean  false | false | false | NULL | false | false | true | false | false | NULL | true | false | false | false | NULL | false | false | true | false | false | NULL | true | false | false
contains(bin, X'')                              boolean  true | true | true | NULL | true | true | true | true | true | true | true | true | true | true | NULL | true | true | true | true | true | true | true | true | true
elt(i8, bin, bin_b)                             binary   NULL | NULL | x'fffe' | NULL | x'0001020304050607' | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | x'fffe' | NULL | x'0001020304050607' | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
elt(2, X'41', X'42')                            binary   x'42'
bin < bin_b                                     boolean  true | true | false | NULL | false | false | false | false | true | NULL | true | true | true | false | NULL | false | false | false | false | true | NULL | true | true | true
bin <= bin_b                                    boolean  true | true | false | NULL | false | false | false | false | true | NULL | true | true | true | false | NULL | false | false | false | false | true | NULL | true | true | true
bin > bin_b                                     boolean  false | false | true | NULL | true | true | true | true | false | NULL | false | false | false | true | NULL | true | true | true | true | false | NULL | false | false | false
bin >= bin_b                                    boolean  false | false | true | NULL | true | true | true | true | false | NULL | false | false | false | true | NULL | true | true | true | true | false | NULL | false | false | false
bin = bin_b                                     boolean  false | false | false | NULL | false | false | false | false | false | NULL | false | false | false | false | NULL | false | false | false | false | false | NULL | false | false | false
bin <=> bin_b                                   boolean  false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false | false
bin <> X'61'                                    boolean  true | true | true | NULL | true | true | false | true | true | true | true | true | true | true | NULL | true | true | false | true | true | true | true | true | true
X'80' > X'7F'                                   boolean  true
X'61' < X'6100'                                 boolean  true
X'' < X'00'                                     boolean  true
bin BETWEEN X'00' AND X'7F'                     boolean  false | true | false | NULL | true | false | true | false | false | true | true | false | true | false | NULL | true | false | true | false | false | true | true | false | true
bin IN (X'61', X'', NULL)                       boolean  true | NULL | NULL | NULL | NULL | NULL | true | NULL | NULL | NULL | NULL | true | NULL | NULL | NULL | NULL | NULL | true | NULL | NULL | NULL | NULL | true | NULL
bin IN (X'61', bin_b)                           boolean  false | false | false | NULL | false | false | true | false | false | NULL | false | false | false | false | NULL | false | false | true | false | false | NULL | false | false | false
greatest(bin, bin_b)                            binary   x'c328' | x'61' | x'fffe' | x'c3a9f09f9880' | x'616263' | x'c328' | x'61' | x'7f80' | x'fffe' | x'0001020304050607' | x'616263' | x'c328' | x'61' | x'fffe' | x'c3a9f09f9880' | x'616263' | x'c328' | x'61' | x'7f80' | x'fffe' | x'0001020304050607' | x'616263' | x'c328' | x'61'
greatest(bin, X'7F80', bin_b)                   binary   x'c328' | x'7f80' | x'fffe' | x'c3a9f09f9880' | x'7f80' | x'c328' | x'7f80' | x'7f80' | x'fffe' | x'7f80' | x'7f80' | x'c328' | x'7f80' | x'fffe' | x'c3a9f09f9880' | x'7f80' | x'c328' | x'7f80' | x'7f80' | x'fffe' | x'7f80' | x'7f80' | x'c328' | x'7f80'
least(bin, bin_b)                               binary   x'' | x'00' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00'
least(X'80', X'7F', X'')                        binary   x''
coalesce(bin, bin_b)                            binary   x'' | x'00' | x'fffe' | x'c3a9f09f9880' | x'616263' | x'c328' | x'61' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00' | x'fffe' | x'c3a9f09f9880' | x'616263' | x'c328' | x'61' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00'
nullif(bin, X'61')                              binary   x'' | x'00' | x'fffe' | NULL | x'616263' | x'c328' | NULL | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00' | x'fffe' | NULL | x'616263' | x'c328' | NULL | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00'
CASE WHEN bin > X'61' THEN bin ELSE X'FF' END   binary   x'ff' | x'ff' | x'fffe' | x'ff' | x'616263' | x'c328' | x'ff' | x'7f80' | x'c3a9f09f9880' | x'ff' | x'ff' | x'ff' | x'ff' | x'fffe' | x'ff' | x'616263' | x'c328' | x'ff' | x'7f80' | x'c3a9f09f9880' | x'ff' | x'ff' | x'ff' | x'ff'
decode(bin, X'61', 'a', X'00', 'zero', 'none')  string   "none" | "zero" | "none" | "none" | "none" | "none" | "a" | "none" | "none" | "none" | "none" | "none" | "zero" | "none" | "none" | "none" | "none" | "a" | "none" | "none" | "none" | "none" | "none" | "zero"
X'123'                                          binary   x'0123'
x'aBcD'                                         binary   x'abcd'
X''                                             binary   x''

-- hexadecimal
hex(s)                                          string   "" | "20" | "61" | "41" | NULL | "616263" | "414243" | "2020706164200920" | "C39F" | "C589" | "C4B0" | "CE91CEA3" | "CE9FCE94CEA5CEA3CEA3CE95CEA5CEA320CEA3CE91CEA3" | "C3A9" | "65CC81" | "F09F988078" | "C2A06E62C2A0" | "610062" | "C785" | "EFAC83" | "EFBFBF" | "F0909080" | "69742773205C20607160" | "30"
hex(bin)                                        string   "" | "00" | "FFFE" | NULL | "616263" | "C328" | "61" | "7F80" | "C3A9F09F9880" | "0001020304050607" | "303132333435363738396162636465663031323334353637383961626364656621" | "" | "00" | "FFFE" | NULL | "616263" | "C328" | "61" | "7F80" | "C3A9F09F9880" | "0001020304050607" | "303132333435363738396162636465663031323334353637383961626364656621" | "" | "00"
hex(i8)                                         string   NULL | "0" | "1" | "FFFFFFFFFFFFFFFF" | "2" | "7" | "FFFFFFFFFFFFFFF9" | "7F" | "FFFFFFFFFFFFFF80" | "64" | "FFFFFFFFFFFFFF9C" | NULL | "0" | "1" | "FFFFFFFFFFFFFFFF" | "2" | "7" | "FFFFFFFFFFFFFFF9" | "7F" | "FFFFFFFFFFFFFF80" | "64" | "FFFFFFFFFFFFFF9C" | NULL | "0"
hex(i16)                                        string   "0" | NULL | "1" | "FFFFFFFFFFFFFFFF" | "3" | "80" | "FFFFFFFFFFFFFF7F" | "7FFF" | "FFFFFFFFFFFF8000" | "FF" | "FFFFFFFFFFFFFF38" | "0" | NULL | "1" | "FFFFFFFFFFFFFFFF" | "3" | "80" | "FFFFFFFFFFFFFF7F" | "7FFF" | "FFFFFFFFFFFF8000" | "FF" | "FFFFFFFFFFFFFF38" | "0" | NULL
hex(i32)                                        string   "0" | "1" | NULL | "FFFFFFFFFFFFFFFF" | "2" | "FFFFFFFFFFFFFFF9" | "A" | "7FFFFFFF" | "FFFFFFFF80000000" | "B505" | "FFFFFFFFFFFF0000" | "5" | "F" | "19" | "FFFFFFFFFFFFFFE7" | "1000001" | "0" | "1" | NULL | "FFFFFFFFFFFFFFFF" | "2" | "FFFFFFFFFFFFFFF9" | "A" | "7FFFFFFF"
hex(i64)                                        string   "0" | "1" | "FFFFFFFFFFFFFFFF" | NULL | "2" | "FFFFFFFFFFFFFFF9" | "A" | "7FFFFFFFFFFFFFFF" | "8000000000000000" | "20000000000001" | "B504F334" | "FFFFFFFF7FFFFFFF" | "19" | "FFDFFFFFFFFFFFFF" | "0" | "1" | "FFFFFFFFFFFFFFFF" | NULL | "2" | "FFFFFFFFFFFFFFF9" | "A" | "7FFFFFFFFFFFFFFF" | "8000000000000000" | "20000000000001"
hex(0)                                          string   "0"
hex(-1)                                         string   "FFFFFFFFFFFFFFFF"
hex(9223372036854775807)                        string   "7FFFFFFFFFFFFFFF"
hex('')                                         string   ""
hex(X'')                                        string   ""
hex('é😀')                                       string   "C3A9F09F9880"
hex(NULL)                                       string   NULL
unhex('4142')                                   binary   x'4142'
unhex('F')                                      binary   x'0f'
unhex('fFa')                                    binary   x'0ffa'
unhex('')                                       binary   x''
unhex('FG')                                     binary   NULL
unhex('\u00204')                                binary   NULL
unhex('4\n')                                    binary   NULL
unhex('é')                                      binary   NULL
unhex('１２')                                     binary   NULL
unhex(s)                                        binary   x'' | NULL | x'0a' | x'0a' | NULL | x'0abc' | x'0abc' | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | x'00'
unhex(NULL)                                     binary   NULL
unhex(hex(bin))                                 binary   x'' | x'00' | x'fffe' | NULL | x'616263' | x'c328' | x'61' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00' | x'fffe' | NULL | x'616263' | x'c328' | x'61' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00'
unhex(hex(s))                                   binary   x'' | x'20' | x'61' | x'41' | NULL | x'616263' | x'414243' | x'2020706164200920' | x'c39f' | x'c589' | x'c4b0' | x'ce91cea3' | x'ce9fce94cea5cea3cea3ce95cea5cea320cea3ce91cea3' | x'c3a9' | x'65cc81' | x'f09f988078' | x'c2a06e62c2a0' | x'610062' | x'c785' | x'efac83' | x'efbfbf' | x'f0909080' | x'69742773205c20607160' | x'30'

-- base64 in lines of 76 letters
base64(bin)                                     string   "" | "AA==" | "//4=" | NULL | "YWJj" | "wyg=" | "YQ==" | "f4A=" | "w6nwn5iA" | "AAECAwQFBgc=" | "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWYh" | "" | "AA==" | "//4=" | NULL | "YWJj" | "wyg=" | "YQ==" | "f4A=" | "w6nwn5iA" | "AAECAwQFBgc=" | "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWYh" | "" | "AA=="
base64(s)                                       string   "" | "IA==" | "YQ==" | "QQ==" | NULL | "YWJj" | "QUJD" | "ICBwYWQgCSA=" | "w58=" | "xYk=" | "xLA=" | "zpHOow==" | "zp/OlM6lzqPOo86VzqXOoyDOo86RzqM=" | "w6k=" | "ZcyB" | "8J+YgHg=" | "wqBuYsKg" | "YQBi" | "x4U=" | "76yD" | "77+/" | "8JCQgA==" | "aXQncyBcIGBxYA==" | "MA=="
base64('')                                      string   ""
base64('a')                                     string   "YQ=="
base64('ab')                                    string   "YWI="
base64('abc')                                   string   "YWJj"
base64(X'FBEFBE')                               string   "++++"
base64(X'FFFFFF')                               string   "////"
base64(repeat('a', 57))                         string   "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh"
base64(repeat('a', 58))                         string   "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh\r\nYQ=="
base64(repeat('xyz', 100))                      string   "eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6\r\neHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6\r\neHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6\r\neHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6\r\neHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6\r\neHl6eHl6eHl6eHl6eHl6"
base64(encode(repeat('é', 57), 'UTF-8'))        string   "w6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nD\r\nqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOp"
base64(NULL)                                    string   NULL
unbase64('QUI=')                                binary   x'4142'
unbase64('QUI')                                 binary   x'4142'
unbase64('QQ')                                  binary   x'41'
unbase64('QQ==')                                binary   x'41'
unbase64('Q!Q==')                               binary   x'41'
unbase64('Q\nU\tI=!?')                          binary   x'4142'
unbase64('QUI==')                               binary   x'4142'
unbase64('QQ===')                               binary   x'41'
unbase64('++//')                                binary   x'fbefff'
unbase64('')                                    binary   x''
unbase64('é😀-_')                                binary   x''
unbase64(base64(bin))                           binary   x'' | x'00' | x'fffe' | NULL | x'616263' | x'c328' | x'61' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00' | x'fffe' | NULL | x'616263' | x'c328' | x'61' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00'
unbase64(base64(repeat('xyz', 100)))            binary   x'78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a78797a'
unbase64(NULL)                                  binary   NULL

-- charsets
encode(s, 'UTF-8')                              binary   x'' | x'20' | x'61' | x'41' | NULL | x'616263' | x'414243' | x'2020706164200920' | x'c39f' | x'c589' | x'c4b0' | x'ce91cea3' | x'ce9fce94cea5cea3cea3ce95cea5cea320cea3ce91cea3' | x'c3a9' | x'65cc81' | x'f09f988078' | x'c2a06e62c2a0' | x'610062' | x'c785' | x'efac83' | x'efbfbf' | x'f0909080' | x'69742773205c20607160' | x'30'
encode(s, 'utf-16')                             binary   x'' | x'feff0020' | x'feff0061' | x'feff0041' | NULL | x'feff006100620063' | x'feff004100420043' | x'feff00200020007000610064002000090020' | x'feff00df' | x'feff0149' | x'feff0130' | x'feff039103a3' | x'feff039f039403a503a303a3039503a503a3002003a3039103a3' | x'feff00e9' | x'feff00650301' | x'feffd83dde000078' | x'feff00a0006e006200a0' | x'feff006100000062' | x'feff01c5' | x'fefffb03' | x'feffffff' | x'feffd801dc00' | x'feff00690074002700730020005c0020006000710060' | x'feff0030'
encode(s, 'UTF-16BE')                           binary   x'' | x'0020' | x'0061' | x'0041' | NULL | x'006100620063' | x'004100420043' | x'00200020007000610064002000090020' | x'00df' | x'0149' | x'0130' | x'039103a3' | x'039f039403a503a303a3039503a503a3002003a3039103a3' | x'00e9' | x'00650301' | x'd83dde000078' | x'00a0006e006200a0' | x'006100000062' | x'01c5' | x'fb03' | x'ffff' | x'd801dc00' | x'00690074002700730020005c0020006000710060' | x'0030'
encode(s, 'utf-16le')                           binary   x'' | x'2000' | x'6100' | x'4100' | NULL | x'610062006300' | x'410042004300' | x'20002000700061006400200009002000' | x'df00' | x'4901' | x'3001' | x'9103a303' | x'9f039403a503a303a3039503a503a3032000a3039103a303' | x'e900' | x'65000103' | x'3dd800de7800' | x'a0006e006200a000' | x'610000006200' | x'c501' | x'03fb' | x'ffff' | x'01d800dc' | x'690074002700730020005c002000600071006000' | x'3000'
encode('', 'UTF-16')                            binary   x''
encode('é😀', 'UTF-8')                           binary   x'c3a9f09f9880'
encode(NULL, 'UTF-8')                           binary   NULL
decode(bin, 'UTF-8')                            string   "" | "\x00" | NULL | NULL | "abc" | NULL | "a" | NULL | "\xe9\U0001f600" | "\x00\x01\x02\x03\x04\x05\x06\x07" | "0123456789abcdef0123456789abcdef!" | "" | "\x00" | NULL | NULL | "abc" | NULL | "a" | NULL | "\xe9\U0001f600" | "\x00\x01\x02\x03\x04\x05\x06\x07" | "0123456789abcdef0123456789abcdef!" | "" | "\x00"
decode(X'F09F9880C3A9', 'utf-8')                string   "\U0001f600\xe9"
decode(X'', 'UTF-8')                            string   ""
decode(X'00', 'UTF-8')                          string   "\x00"
decode(X'80', 'UTF-8')                          string   NULL
decode(X'EDA080', 'UTF-8')                      string   NULL
decode(X'C080', 'UTF-8')                        string   NULL
decode(X'F4908080', 'UTF-8')                    string   NULL
decode(X'F09F98', 'UTF-8')                      string   NULL
decode(encode(s, 'UTF-8'), 'UTF-8')             string   "" | " " | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
decode(CAST(NULL AS BINARY), 'UTF-8')           string   NULL
is_valid_utf8(bin)                              boolean  true | true | false | NULL | true | false | true | false | true | true | true | true | true | false | NULL | true | false | true | false | true | true | true | true | true
is_valid_utf8(X'80')                            boolean  false
is_valid_utf8(X'')                              boolean  true
is_valid_utf8(X'EDA080')                        boolean  false
is_valid_utf8(X'F48FBFBF')                      boolean  true
is_valid_utf8(NULL)                             boolean  NULL
validate_utf8(bin)                              string   "" | "\x00" | NULL | NULL | "abc" | NULL | "a" | NULL | "\xe9\U0001f600" | "\x00\x01\x02\x03\x04\x05\x06\x07" | "0123456789abcdef0123456789abcdef!" | "" | "\x00" | NULL | NULL | "abc" | NULL | "a" | NULL | "\xe9\U0001f600" | "\x00\x01\x02\x03\x04\x05\x06\x07" | "0123456789abcdef0123456789abcdef!" | "" | "\x00"
validate_utf8(X'80')                            string   NULL
validate_utf8(X'41')                            string   "A"
validate_utf8(NULL)                             string   NULL
try_validate_utf8(bin)                          string   "" | "\x00" | NULL | NULL | "abc" | NULL | "a" | NULL | "\xe9\U0001f600" | "\x00\x01\x02\x03\x04\x05\x06\x07" | "0123456789abcdef0123456789abcdef!" | "" | "\x00" | NULL | NULL | "abc" | NULL | "a" | NULL | "\xe9\U0001f600" | "\x00\x01\x02\x03\x04\x05\x06\x07" | "0123456789abcdef0123456789abcdef!" | "" | "\x00"
try_validate_utf8(X'C3')                        string   NULL
try_validate_utf8(X'C3A9')                      string   "\xe9"
make_valid_utf8(bin)                            string   "" | "\x00" | "\ufffd\ufffd" | NULL | "abc" | "\ufffd(" | "a" | "\x7f\ufffd" | "\xe9\U0001f600" | "\x00\x01\x02\x03\x04\x05\x06\x07" | "0123456789abcdef0123456789abcdef!" | "" | "\x00" | "\ufffd\ufffd" | NULL | "abc" | "\ufffd(" | "a" | "\x7f\ufffd" | "\xe9\U0001f600" | "\x00\x01\x02\x03\x04\x05\x06\x07" | "0123456789abcdef0123456789abcdef!" | "" | "\x00"
make_valid_utf8(X'80')                          string   "\ufffd"
make_valid_utf8(X'F09F98')                      string   "\ufffd"
make_valid_utf8(X'F09F9841')                    string   "\ufffdA"
make_valid_utf8(X'EDA080')                      string   "\ufffd\ufffd\ufffd"
make_valid_utf8(X'E0809F')                      string   "\ufffd\ufffd\ufffd"
make_valid_utf8(X'C3A9')                        string   "\xe9"
make_valid_utf8(NULL)                           string   NULL

-- formats
to_binary('4142')                               binary   x'4142'
to_binary('F')                                  binary   x'0f'
to_binary('GG')                                 binary   NULL
to_binary('')                                   binary   x''
to_binary(s)                                    binary   x'' | NULL | x'0a' | x'0a' | NULL | x'0abc' | x'0abc' | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | x'00'
to_binary('é😀', 'utf-8')                        binary   x'c3a9f09f9880'
to_binary(s, 'UTF8')                            binary   x'' | x'20' | x'61' | x'41' | NULL | x'616263' | x'414243' | x'2020706164200920' | x'c39f' | x'c589' | x'c4b0' | x'ce91cea3' | x'ce9fce94cea5cea3cea3ce95cea5cea320cea3ce91cea3' | x'c3a9' | x'65cc81' | x'f09f988078' | x'c2a06e62c2a0' | x'610062' | x'c785' | x'efac83' | x'efbfbf' | x'f0909080' | x'69742773205c20607160' | x'30'
to_binary('4142', 'hex')                        binary   x'4142'
to_binary('QUI=', 'base64')                     binary   x'4142'
to_binary('QQ', 'base64')                       binary   x'41'
to_binary('Q', 'base64')                        binary   NULL
to_binary('QQ=', 'base64')                      binary   NULL
to_binary('Q!Q=', 'base64')                     binary   NULL
to_binary('QU I=\n', 'base64')                  binary   NULL
to_binary('Q\u2006U\u3000I\u000b=', 'base64')   binary   x'4142'
to_binary('QUI\u00a0=', 'base64')               binary   NULL
to_binary('Q\u2007Q', 'base64')                 binary   NULL
to_binary('QUI=QUI=', 'base64')                 binary   NULL
try_to_binary(s, 'base64')                      binary   x'' | x'' | NULL | NULL | NULL | x'69b7' | x'0010' | x'a5a7' | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
try_to_binary(base64(bin), 'base64')            binary   x'' | x'00' | x'fffe' | NULL | x'616263' | x'c328' | x'61' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00' | x'fffe' | NULL | x'616263' | x'c328' | x'61' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00'
try_to_binary(hex(bin))                         binary   x'' | x'00' | x'fffe' | NULL | x'616263' | x'c328' | x'61' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00' | x'fffe' | NULL | x'616263' | x'c328' | x'61' | x'7f80' | x'c3a9f09f9880' | x'0001020304050607' | x'303132333435363738396162636465663031323334353637383961626364656621' | x'' | x'00'
try_to_binary(s, 'hex')                         binary   x'' | NULL | x'0a' | x'0a' | NULL | x'0abc' | x'0abc' | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | x'00'
try_to_binary(NULL, 'hex')                      binary   NULL

-- as forms are sent
url_encode(s)                                   string   "" | "+" | "a" | "A" | NULL | "abc" | "ABC" | "++pad+%09+" | "%C3%9F" | "%C5%89" | "%C4%B0" | "%CE%91%CE%A3" | "%CE%9F%CE%94%CE%A5%CE%A3%CE%A3%CE%95%CE%A5%CE%A3+%CE%A3%CE%91%CE%A3" | "%C3%A9" | "e%CC%81" | "%F0%9F%98%80x" | "%C2%A0nb%C2%A0" | "a%00b" | "%C7%85" | "%EF%AC%83" | "%EF%BF%BF" | "%F0%90%90%80" | "it%27s+%5C+%60q%60" | "0"
url_encode('a b*-._~!\'()')                     string   "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29" | "a+b*-._%7E%21%27%28%29"
url_encode('é😀')                                string   "%C3%A9%F0%9F%98%80"
url_encode('')                                  string   ""
url_encode('\u0000%+')                          string   "%00%25%2B"
url_encode(NULL)                                string   NULL
url_decode('a+b%20c')                           string   "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c" | "a b c"
url_decode('%C3%A9%f0%9f%98%80')                string   "\xe9\U0001f600"
url_decode('%C3')                               string   "\ufffd"
url_decode('%C3x%A9')                           string   "\ufffdx\ufffd"
url_decode('%EDA080%ED%A0%80')                  string   "\ufffdA080\ufffd"
url_decode('%ED%A0x%ed%bf%bf%F0%9F%98%E0%80')   string   "\ufffdx\ufffd\ufffd\ufffd\ufffd"
url_decode('%zz')                               string   NULL
url_decode('%2')                                string   NULL
url_decode('%')                                 string   NULL
url_decode('')                                  string   ""
url_decode('é+😀')                               string   "\xe9 \U0001f600"
url_decode(s)                                   string   "" | " " | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
try_url_decode('%2G')                           string   NULL
try_url_decode('%25%2B')                        string   "%+"
try_url_decode(url_encode(s))                   string   "" | " " | "a" | "A" | NULL | "abc" | "ABC" | "  pad \t " | "\xdf" | "\u0149" | "\u0130" | "\u0391\u03a3" | "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3\u0391\u03a3" | "\xe9" | "e\u0301" | "\U0001f600x" | "\xa0nb\xa0" | "a\x00b" | "\u01c5" | "\ufb03" | "\uffff" | "\U00010400" | "it's \\ `q`" | "0"
try_url_decode(NULL)                            string   NULL
