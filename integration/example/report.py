"""Sum sales by region and write a summary: the bundled example of psb."""
import csv
import os
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent


def totals(source):
    out = defaultdict(int)
    with open(source, newline="") as f:
        for row in csv.DictReader(f):
            out[row["region"]] += int(row["amount"])
    return dict(sorted(out.items()))


def main():
    region = sys.argv[1] if len(sys.argv) > 1 else "all"
    source = HERE / "data" / ("sales.csv" if region == "all" else f"{region}.csv")
    result = totals(source)
    target = HERE / "out"
    target.mkdir(exist_ok=True)
    (target / "summary.csv").write_text("".join(f"{k},{v}\n" for k, v in result.items()))
    print(os.environ.get("REPORT_TITLE", "Sales"), result)


main()
