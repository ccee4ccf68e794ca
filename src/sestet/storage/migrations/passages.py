"""What every table needs whose texts can be retrieved."""

# ruff: noqa: S608 - every part of every statement is written in this file


def kept_in_passages(
    table: str, title: str, text: str, source: str, session_id: str = "session_id", at: str = "created_at"
) -> str:
    """Triggers that give every row of a table its passage, and the passages of the rows that are there.

    The other arguments are expressions over the table's columns.
    """
    passage = f"""INSERT INTO passages
        SELECT NULL, '{table}', id, {title}, {text}, {source}, {session_id}, untrusted, private, sources, {at}
        FROM {table}"""
    removal = f"DELETE FROM passages WHERE collection = '{table}' AND item_id = old.id;"
    return f"""
    CREATE TRIGGER {table}_into_passages AFTER INSERT ON {table} BEGIN
        {passage} WHERE id = new.id;
    END;
    CREATE TRIGGER {table}_out_of_passages AFTER DELETE ON {table} BEGIN
        {removal}
    END;
    CREATE TRIGGER {table}_anew_in_passages AFTER UPDATE ON {table} BEGIN
        {removal}
        {passage} WHERE id = new.id;
    END;
    {passage};
    """
