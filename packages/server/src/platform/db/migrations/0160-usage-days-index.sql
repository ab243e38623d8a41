-- The days of all orgs, for the job that finds days without usage sums.
DROP INDEX CONCURRENTLY IF EXISTS spend_days_of_orgs;
CREATE INDEX CONCURRENTLY spend_days_of_orgs ON spend_days (org_id, mode, day) WHERE user_id = '*';
