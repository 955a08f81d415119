# needs: pandas
import io

import pandas as pd

df = pd.read_csv(io.StringIO("name,n,day\na,1,2024-01-01\nb,2,2024-01-02\na,3,2024-01-03\n"), parse_dates=["day"])
limit = 1
print(df.query("n > @limit and name == 'a'"))
print(df.eval("m = n * 2 + 1").eval("m - n").tolist(), pd.eval("df.n + 1").tolist(), df.query("n > 1", engine="python").n.sum())
print(df.groupby("name").n.agg(["sum", "mean"]), df.pivot_table(index="name", values="n", aggfunc="max"))
print(df.set_index("day").resample("2D").n.sum(), df.apply(lambda r: r.n * 2, axis=1).tolist())
df.info(buf=io.StringIO())
print(df.to_json(orient="records"), df.merge(df, on="name").shape)
for bad in ("gone > 1", "n >", "@nothing > 1", "__import__('os')"):
    try:
        print(df.query(bad))
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
