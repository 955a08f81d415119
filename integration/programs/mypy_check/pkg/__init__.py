from pkg.rates import rate

print(rate("eur"))
