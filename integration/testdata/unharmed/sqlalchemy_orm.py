# needs: sqlalchemy
from sqlalchemy import Column, ForeignKey, Integer, String, create_engine, event, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, declarative_base, relationship

Base = declarative_base()


class Author(Base):
    __tablename__ = "author"
    id = Column(Integer, primary_key=True)
    name = Column(String, unique=True)
    books = relationship("Book", back_populates="author", order_by="Book.title")


class Book(Base):
    __tablename__ = "book"
    id = Column(Integer, primary_key=True)
    title = Column(String)
    author_id = Column(ForeignKey("author.id"))
    author = relationship("Author", back_populates="books")


engine = create_engine("sqlite://", future=True)
seen = []
event.listen(engine, "before_cursor_execute", lambda conn, cursor, statement, *rest: seen.append(statement.split()[0]))
Base.metadata.create_all(engine)
with Session(engine) as s:
    s.add(Author(name="A", books=[Book(title="z"), Book(title="y")]))
    s.commit()
    print([b.title for b in s.execute(select(Author)).scalar_one().books])
    print(s.execute(select(Author.name, func.count()).join(Author.books).group_by(Author.name)).all())
    print(select(Book).where(Book.title.like("z%")))
    s.add(Author(name="A"))
    try:
        s.commit()
    except IntegrityError as e:
        print(str(e.orig))
print(sorted(set(seen)))
