import coverage

measure = coverage.Coverage(data_file=".coverage", data_suffix=True)
measure.start()
import rates

print(rates.rate("eur"))
measure.stop()
measure.save()
measure = coverage.Coverage(data_file=".coverage")
measure.combine()
with open("lines.txt", "w") as f:
    print(measure.report(include=["rates.py"], file=f))
