-- Each attempt to tell an endpoint of an event is a row. Those still to be made are the queue itself: an event and its
-- deliveries are written in the transaction of what they tell. No row refers to its endpoint or event: the check would
-- lock rows that every event of the org shares, and either may end before its deliveries do.
CREATE TABLE webhook_deliveries (
  org_id text NOT NULL,
  mode text NOT NULL,
  endpoint_id text NOT NULL,
  id text NOT NULL,
  event_id text NOT NULL,
  event_type text NOT NULL,
  -- Counts every attempt at this event and endpoint, those asked for by hand included.
  attempt integer NOT NULL CHECK (attempt >= 1),
  -- Which attempt of the schedule it is; null for one asked for by hand, which nothing follows.
  step integer CHECK (step >= 1),
  status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
  status_code integer,
  duration_ms integer,
  error text,
  -- Of a pending attempt when it is to be made, of a failed one when the next is.
  next_attempt_at timestamptz,
  -- From when a dispatcher may take it; whoever does moves it on by a lease. `-infinity` is at once, whatever the clock
  -- of the dispatcher says. Null when the attempt is over.
  due_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((status = 'pending') = (due_at IS NOT NULL)),
  PRIMARY KEY (org_id, mode, endpoint_id, id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_due_by_endpoint ON webhook_deliveries (endpoint_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id, endpoint_id);
-- For pruning.
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at);

-- Since when every attempt has failed, and about when the last did; both null after a success.
ALTER TABLE webhook_endpoints ADD COLUMN failing_since timestamptz, ADD COLUMN last_failed_at timestamptz;
