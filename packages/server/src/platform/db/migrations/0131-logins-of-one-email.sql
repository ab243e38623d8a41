-- Several logins may have the same email. Each opens only the orgs that were joined with its own password. `logins.email`
-- stays the key that other tables refer to: the email itself for the first login of an email, and the id of the member that
-- it was created for otherwise. The email is then in `address`.
ALTER TABLE logins ADD COLUMN address text;

-- The login that opens a membership. Null: the login whose key is the member's email, unless `opened_by` is 'identity'. Rows
-- that name a login have `opened_by` 'identity', so that a process of the version before, which looks up the email alone,
-- opens none of them with another login of that email.
ALTER TABLE members ADD COLUMN login text;
