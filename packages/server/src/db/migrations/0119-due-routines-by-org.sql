-- Where thousands are due at once, each org is asked for its own first ones (dueByOrg).
CREATE INDEX routines_due_by_org ON routines (org_id, next_run_at)
  WHERE enabled AND status = 'active' AND next_run_at IS NOT NULL;
