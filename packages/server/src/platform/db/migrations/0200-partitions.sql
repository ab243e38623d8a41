-- Version 0.2.0 deletes expired rows by their place in the table alone. Several partitions have a row at the same place,
-- so it would delete other rows as well. `vestra admin partition` puts this guard on the tables that it partitions.
CREATE FUNCTION refuse_delete_by_place() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_query() ~* 'WHERE\s+ctid\s+IN' THEN
    RAISE EXCEPTION 'This version of Vestra cannot delete expired rows of %, which has partitions.', TG_TABLE_NAME;
  END IF;
  RETURN NULL;
END $$;
