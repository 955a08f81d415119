import os

import pandas as pd

sales = pd.read_csv("data/sales.csv", parse_dates=["day"])
summary = sales.groupby("region")["amount"].agg(["count", "sum"]).sort_index()
os.makedirs("out", exist_ok=True)
summary.to_csv("out/summary.csv")
print(summary)
