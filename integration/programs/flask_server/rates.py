from flask import Flask, render_template

app = Flask(__name__)


@app.route("/")
def page():
    return render_template("page.html", name="rates")


if __name__ == "__main__":
    app.run(port=18431, load_dotenv=False)
