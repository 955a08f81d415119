from flask import Flask, jsonify, render_template

app = Flask(__name__)


@app.route("/")
def index():
    return render_template("index.html", name="psb")


@app.route("/rates")
def rates():
    return jsonify(eur=1, usd=1.1)
