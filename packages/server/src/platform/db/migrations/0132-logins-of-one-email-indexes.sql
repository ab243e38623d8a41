DROP INDEX CONCURRENTLY IF EXISTS logins_by_address;
CREATE INDEX CONCURRENTLY logins_by_address ON logins (address) WHERE address IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS members_by_login;
CREATE INDEX CONCURRENTLY members_by_login ON members (login) WHERE login IS NOT NULL;
