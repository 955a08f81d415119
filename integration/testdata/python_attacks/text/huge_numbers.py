# One expression computes for hours or fills memory inside one operation.
#: eval bounded iiiiiiiiii max_alloc|timeout
9 ** 9 ** 9
#--
pow(9, 9 ** 9)
#--
1 << 10 ** 12
#--
(lambda x: [x := x * x for _ in range(60)])(3)
#--
int("9" * 10 ** 7)
#--
len(str(3 ** 10 ** 7))
#--
pow(3, 10 ** 9, 7 ** 10 ** 6)
#--
sum([(1 << 30000000) * (1 << 30000000) for _ in range(1000)])
#--
2.5 .as_integer_ratio()[0] ** 10 ** 9
#--
-7 ** 7 ** 7 ** 7
