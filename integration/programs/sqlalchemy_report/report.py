import sqlalchemy as sa
from sqlalchemy.orm import Session

engine = sa.create_engine("sqlite:///rates.db")
rate = sa.Table("rate", sa.MetaData(), autoload_with=engine)
with Session(engine) as session:
    session.execute(rate.insert().values(name="usd", value=1.0))
    session.commit()
    lines = [f"{name} {value}" for name, value in session.execute(sa.select(rate.c.name, rate.c.value).order_by(rate.c.name))]
with open("report.txt", "w") as f:
    f.write("\n".join(lines) + "\n")
print(lines)
