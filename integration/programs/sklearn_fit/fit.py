import joblib
import numpy
from scipy import optimize
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

data = load_iris()
model = RandomForestClassifier(n_estimators=10, random_state=0, n_jobs=2).fit(data.data, data.target)
joblib.dump(model, "model.joblib")
print(round(model.score(data.data, data.target), 2), numpy.round(optimize.brentq(lambda x: x**2 - 2, 0, 2), 3))
