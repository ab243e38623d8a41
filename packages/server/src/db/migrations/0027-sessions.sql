-- Sessions that ended long ago are found by when they ended, without a look at the others.
CREATE INDEX sessions_by_end ON sessions (expires_at);
