-- Recorded by `python -m tests.semantics.record` from Spark 4.3.0, JDK 17, ANSI true, session zone UTC.
-- Columns are those of tests/semantics/edges.py; their cases have one value for each of its rows.
-- width_bucket
width_bucket(5.3, 0.2, 10.6, 5)                               bigint  3
width_bucket(-1, 0, 10, 5)                                    bigint  0
width_bucket(10, 0, 10, 5)                                    bigint  6
width_bucket(11, 0, 10, 5)                                    bigint  6
width_bucket(5, 10, 0, 5)                                     bigint  3
width_bucket(10, 10, 0, 5)                                    bigint  1
width_bucket(0, 10, 0, 5)                                     bigint  6
width_bucket(11, 10, 0, 5)                                    bigint  0
width_bucket(5, 0, 0, 5)                                      bigint  NULL
width_bucket(5, 0, 10, 0)                                     bigint  NULL
width_bucket(5, 0, 10, -1)                                    bigint  NULL
width_bucket(CAST('NaN' AS DOUBLE), 0, 10, 5)                 bigint  NULL
width_bucket(5, CAST('NaN' AS DOUBLE), 10, 5)                 bigint  NULL
width_bucket(5, 0, CAST('Infinity' AS DOUBLE), 5)             bigint  NULL
width_bucket(CAST('Infinity' AS DOUBLE), 0, 10, 5)            bigint  6
width_bucket(5, 0, 10, 9223372036854775807)                   bigint  NULL
width_bucket(50, 0, 10, 9223372036854775806)                  bigint  9223372036854775807
width_bucket(5, 0, 10, 9223372036854775806)                   bigint  4611686018427387905
width_bucket(9.999999999999999D, 0, 10, 9223372036854775806)  bigint  9223372036854773761
width_bucket(f64, 0, 10, 5)                                   bigint  1 | 1 | 1 | 0 | 1 | NULL | 2 | 0 | 1 | 1 | 6 | 0 | NULL | 6 | 1 | 6 | 6 | 6 | 0 | 1 | 2 | 6 | 0 | 1
width_bucket(f64, 10, -10, 100)                               bigint  51 | 51 | 46 | 58 | 48 | NULL | 38 | 63 | 50 | 49 | 0 | 101 | NULL | 0 | 51 | 0 | 0 | 0 | 101 | 45 | 37 | 0 | 51 | 50
width_bucket(f64, -1e308D, 1e308D, 10)                        bigint  1 | 1 | 1 | 1 | 1 | NULL | 1 | 1 | 1 | 1 | 11 | 0 | NULL | 11 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1
width_bucket(f64, f64_b, 10, 7)                               bigint  NULL | 0 | 2 | 0 | 1 | NULL | NULL | NULL | 8 | 1 | 0 | 8 | NULL | 8 | 0 | 8 | 0 | 8 | 0 | 1 | 2 | 8 | 1 | 0
width_bucket(f64, f64_b, f32, i8)                             bigint  NULL | NULL | 2 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | 2 | NULL | 0 | 0 | NULL | 128 | NULL | 101 | NULL | NULL | NULL
width_bucket(i32, -100, 100, 20)                              bigint  11 | 11 | NULL | 10 | 11 | 10 | 12 | 21 | 0 | 21 | 0 | 11 | 12 | 13 | 8 | 21 | 11 | 11 | NULL | 10 | 11 | 10 | 12 | 21
width_bucket(d5_2, 0, 100, 10)                                bigint  1 | 1 | 0 | 1 | 11 | 0 | NULL | 1 | 1 | 0 | 1 | 11 | 1 | 1 | 0 | 1 | 11 | 0 | NULL | 1 | 1 | 0 | 1 | 11
width_bucket(i64, 0, 9e18D, i64_b)                            bigint  NULL | 1 | NULL | NULL | 1 | 0 | NULL | 26 | NULL | NULL | 1 | NULL | NULL | 0 | NULL | 1 | NULL | NULL | 1 | 0 | NULL | 26 | NULL | NULL
width_bucket(NULL, 0, 10, 5)                                  bigint  NULL
width_bucket(5, 0, 10, NULL)                                  bigint  NULL
width_bucket(f32, 0, 1, 3L)                                   bigint  1 | 1 | 4 | 0 | NULL | 2 | 4 | 1 | 4 | 0 | NULL | 4 | 0 | 1 | 4 | 4 | 0 | 4 | 1 | 1 | 4 | 0 | NULL | 2

-- bucketize counts the bounds that are reached
bucketize(5, 0, 10)                                           int     1
bucketize(0, 0, 10)                                           int     1
bucketize(-1, 0, 10)                                          int     0
bucketize(10, 0, 10)                                          int     2
bucketize(f64, 0, 1, 10, 100)                                 int     1 | 1 | 2 | 0 | 1 | NULL | 2 | 0 | 1 | 1 | 4 | 0 | 4 | 4 | 1 | 4 | 4 | 4 | 0 | 2 | 2 | 4 | 0 | 1
bucketize(f64, -1e300D, 0, 0.5D, 1e300D)                      int     2 | 2 | 3 | 1 | 3 | NULL | 3 | 1 | 2 | 2 | 4 | 0 | 4 | 4 | 2 | 3 | 3 | 3 | 1 | 3 | 3 | 3 | 1 | 2
bucketize(f64, 0)                                             int     1 | 1 | 1 | 0 | 1 | NULL | 1 | 0 | 1 | 1 | 1 | 0 | 1 | 1 | 1 | 1 | 1 | 1 | 0 | 1 | 1 | 1 | 0 | 1
bucketize(f32, 0.1D, 2.5D)                                    int     0 | 0 | 1 | 0 | NULL | 1 | 2 | 1 | 2 | 0 | 2 | 2 | 0 | 0 | 2 | 1 | 0 | 2 | 0 | 0 | 1 | 0 | NULL | 1
bucketize(i32, -1000, 0, 15, 25, 100000)                      int     2 | 2 | NULL | 1 | 2 | 1 | 2 | 5 | 0 | 4 | 0 | 2 | 3 | 4 | 1 | 5 | 2 | 2 | NULL | 1 | 2 | 1 | 2 | 5
bucketize(i64, -9007199254740993, 0, 9007199254740992)        int     2 | 2 | 1 | NULL | 2 | 1 | 2 | 3 | 0 | 3 | 2 | 1 | 2 | 1 | 2 | 2 | 1 | NULL | 2 | 1 | 2 | 3 | 0 | 3
bucketize(i8, -100, 0, 100)                                   int     NULL | 2 | 2 | 1 | 2 | 2 | 1 | 3 | 0 | 3 | 1 | NULL | 2 | 2 | 1 | 2 | 2 | 1 | 3 | 0 | 3 | 1 | NULL | 2
bucketize(d5_2, -0.05, 0, 9.99, 100)                          int     2 | 2 | 0 | 2 | 4 | 0 | NULL | 2 | 2 | 1 | 3 | 4 | 2 | 2 | 0 | 2 | 4 | 0 | NULL | 2 | 2 | 1 | 3 | 4
bucketize(d5_2, 1, 2.5)                                       int     0 | 1 | 0 | 0 | 2 | 0 | NULL | 2 | 0 | 0 | 2 | 2 | 0 | 1 | 0 | 0 | 2 | 0 | NULL | 2 | 0 | 0 | 2 | 2
bucketize(NULL, 1)                                            int     NULL
bucketize(f64 + f64_b, 0, 1)                                  int     NULL | 2 | 0 | 0 | 1 | NULL | 0 | 2 | 2 | 1 | 2 | 0 | 2 | 2 | 2 | 2 | 2 | 2 | 0 | 2 | 2 | 2 | 0 | 1
bucketize(CASE WHEN b THEN f64 END, 0, 0.3D, 1000)            int     1 | NULL | NULL | 0 | NULL | NULL | 2 | NULL | NULL | 2 | NULL | NULL | 3 | NULL | NULL | 3 | NULL | NULL | 0 | NULL | NULL | 3 | NULL | NULL

-- log_ratio
log_ratio(2, 1)                                               double  0.6931471805599453
log_ratio(1, 2)                                               double  -0.6931471805599453
log_ratio(0, 1)                                               double  NULL
log_ratio(1, 0)                                               double  NULL
log_ratio(-1, -2)                                             double  -0.6931471805599453
log_ratio(f64, f64_b)                                         double  NULL | NULL | NULL | NULL | 0.5108256237659907 | NULL | NULL | NaN | -712.085297986378 | Infinity | Infinity | NULL | NaN | NULL | -744.4400719213812 | 49.672922665521035 | 25.01315408249122 | NULL | NULL | NULL | NULL | 11.723646487185881 | -3.4011973816621555 | -15.424948470398375
log_ratio(i32, i64)                                           double  NULL | 0.0 | NULL | NULL | 0.0 | 0.0 | 0.0 | -22.18070977838391 | -22.18070977791825 | -25.99301819229474 | NULL | NULL | -0.5108256237659907 | NULL | NULL | 16.63553239304333 | NULL | NULL | NULL | -1.9459101490553135 | -1.6094379124341003 | NULL | NULL | -15.249237972784458
log_ratio(d5_2, 3)                                            double  NULL | -1.0986122886681098 | NULL | -5.703782474656201 | 5.809132990264027 | NULL | NULL | -0.1823215567939546 | -4.0943445622221 | NULL | 1.2029723039923526 | 3.7332949841443215 | NULL | -1.0986122886681098 | NULL | -5.703782474656201 | 5.809132990264027 | NULL | NULL | -0.1823215567939546 | -4.0943445622221 | NULL | 1.2029723039923526 | 3.7332949841443215
log_ratio(f64 + 1, 2)                                         double  -0.6931471805599453 | -0.6931471805599453 | 0.0 | NULL | -0.2876820724517809 | NULL | 0.5596157879354227 | NULL | -0.5978370007556204 | -0.4307829160924542 | Infinity | NULL | NaN | 709.0895657128241 | -0.6931471805599453 | 49.96372486530906 | 36.04365338911715 | 42.97512519471661 | NULL | 0.002496880198587146 | 0.6084059521048546 | 11.030507406593205 | -0.7444404749474959 | -0.6931470805599502
log_ratio(NULL, 1)                                            double  NULL
log_ratio(1e300D, 1e-300D)                                    double  Infinity
log_ratio(CAST('Infinity' AS DOUBLE), 1)                      double  Infinity

-- haversine
haversine(40.6413, -73.7781, 33.9416, -118.4085)              double  3974.3416895777727
haversine(0, 0, 0, 180)                                       double  20015.114442035923
haversine(90, 0, -90, 0)                                      double  20015.114442035923
haversine(0, 0, 0, 0)                                         double  0.0
haversine(0, 0, 0, 1e-9D)                                     double  1.1119508023353292e-07
haversine(51.47, -0.4543, 51.47, -0.4543)                     double  0.0
haversine(-33.95, 151.18, 40.64, -73.78)                      double  16013.400440586402
haversine(0, 179.9999D, 0, -179.9999D)                        double  0.02223901604744484
haversine(90, 0, 90, 120)                                     double  0.0
haversine(90.0001D, 0, 0, 0)                                  double  NULL
haversine(0, 180.5D, 0, 0)                                    double  NULL
haversine(45, -180, 45, 180)                                  double  0.0
haversine(0.5D, 179.7D, -0.5D, -0.3D)                         double  20015.114442035923
haversine(f64, f64_b, 40.64, -73.78)                          double  NULL | 8854.658739381804 | 8365.68264874507 | 8766.524841768172 | 8634.739170612216 | NULL | NULL | NULL | NULL | 8624.631878058815 | NULL | NULL | NULL | NULL | 8730.261529676243 | NULL | NULL | NULL | NULL | 8572.49744109897 | 8449.50379890947 | NULL | 8526.439847632722 | 8688.32695627992
haversine(d5_2 / 12, i8, d5_2_b / 12, i8_b)                   double  NULL | NULL | 14010.58626101477 | 14121.77516801954 | 10110.971245283135 | 10315.868797566589 | NULL | 14121.743452927394 | 14344.159012545333 | 11230.701103943367 | 11341.753863388898 | NULL | 9271.715055202298 | NULL | 14121.78056297414 | 10897.117853620932 | 10224.332755474139 | NULL | NULL | 14344.131245218747 | 11230.701103943367 | 11341.896058946759 | NULL | 8109.384997669152
haversine(i8, i16, i8_b, i16_b)                               double  NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
haversine(f64, 0, f64_b, 0)                                   double  NULL | 277.98770058383224 | 389.1827808173652 | 177.91212837365265 | 22.23901604670658 | NULL | NULL | NULL | NULL | 33.358524070059865 | NULL | NULL | NULL | NULL | 111.75105563470056 | NULL | NULL | NULL | NULL | 111.75105563470056 | 297.4468396247005 | NULL | 161.23286633862273 | 55.59752899725842
haversine(NULL, 0, 0, 0)                                      double  NULL
haversine(CAST('NaN' AS DOUBLE), 0, 0, 0)                     double  NULL
haversine(f32, f32_b, f64, f64_b)                             double  NULL | 0.0 | 289.06316878881637 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | 299.59561682957167 | 186.5830254585907 | NULL | NULL | NULL

-- sums through arrays, in element order
dot_product(ad, ad_b)                                         double  NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
dot_product(ad, ad)                                           double  14.0 | 0.0 | 0.0 | 0.0 | NaN | NULL | NULL | 0.14 | NaN | Infinity | NULL | NULL | 10000001939.530725 | 14.0 | 0.0 | 0.0 | 0.0 | NaN | NULL | NULL | 0.14 | NaN | Infinity | NULL
dot_product(ad_b, ad)                                         double  NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
cosine_similarity(ad, ad_b)                                   double  NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
cosine_similarity(ad, ad)                                     double  1.0 | NULL | NULL | NULL | NaN | NULL | NULL | 1.0 | NaN | NaN | NULL | NULL | 0.9999999999999998 | 1.0 | NULL | NULL | NULL | NaN | NULL | NULL | 1.0 | NaN | NaN | NULL
cosine_similarity(ad_b, ad)                                   double  NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
l2_distance(ad, ad_b)                                         double  NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
l2_distance(ad, ad)                                           double  0.0 | 0.0 | 0.0 | 0.0 | NaN | NULL | NULL | 0.0 | NaN | 0.0 | NULL | NULL | 0.0 | 0.0 | 0.0 | 0.0 | 0.0 | NaN | NULL | NULL | 0.0 | NaN | 0.0 | NULL
l2_distance(ad_b, ad)                                         double  NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
l2_norm(ad)                                                   double  3.7416573867739413 | 0.0 | 0.0 | 0.0 | NaN | NULL | NULL | 0.37416573867739417 | NaN | Infinity | NULL | NULL | 100000.00969765316 | 3.7416573867739413 | 0.0 | 0.0 | 0.0 | NaN | NULL | NULL | 0.37416573867739417 | NaN | Infinity | NULL
l2_norm(ad_b)                                                 double  NULL | NULL | 0.37416573867739417 | NaN | Infinity | NULL | NULL | 100000.00969765316 | 3.7416573867739413 | 0.0 | 0.0 | 0.0 | NaN | NULL | NULL | 0.37416573867739417 | NaN | Infinity | NULL | NULL | 100000.00969765316 | 3.7416573867739413 | 0.0 | 0.0
