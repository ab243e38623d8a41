-- The member who opened the session in the console; null if a key or a grant did. The session ends with the membership.
-- A column of its own: an older process takes an `opened_by` that is neither a key nor a grant for a revoked one.
ALTER TABLE sessions ADD COLUMN opened_by_member text;
