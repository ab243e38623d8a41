-- Several logins may have the same email: each opens only the orgs that were joined with its own password. `logins.email` stays
-- the key that other tables refer to. It is the email itself for the first login, and the id of the member it was created for
-- for every further one, whose email is then in `address`.
ALTER TABLE logins ADD COLUMN address text;
CREATE INDEX logins_by_address ON logins (address) WHERE address IS NOT NULL;

-- The login that opens a membership; null: the login whose key is the member's email, unless `opened_by` is 'identity'. Rows that
-- name a login have `opened_by` 'identity', so that a process of the version before, which goes by the email alone, opens
-- none of them with another login of that email.
ALTER TABLE members ADD COLUMN login text;
CREATE INDEX members_by_login ON members (login) WHERE login IS NOT NULL;
