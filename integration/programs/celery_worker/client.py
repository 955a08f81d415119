from tasks import convert

print([convert.delay(n).get(timeout=60) for n in range(3)])
