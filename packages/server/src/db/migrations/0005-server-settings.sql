-- What every process on this database must agree on, sealed under the master key.
CREATE TABLE server_settings (
  name text PRIMARY KEY,
  sealed_value bytea NOT NULL
);
