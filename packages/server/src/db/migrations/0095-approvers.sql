-- Who says yes to an approval: the user whose conversation it is, as it always was, or the org.
ALTER TABLE interactions
  ADD COLUMN approver text NOT NULL DEFAULT 'user' CHECK (approver IN ('user', 'org'));
