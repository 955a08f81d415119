# needs: pandas
import pandas as pd

pd.DataFrame({"n": [1, 2]}).to_pickle("frame.pkl")
print(pd.read_pickle("frame.pkl").n.sum())
