-- The browser in which a person is asked to take over, as the interaction shows it.
ALTER TABLE interactions ADD COLUMN browser json;

-- What the page showed at that moment, as a data URI: read with one interaction and never in a list.
CREATE TABLE interaction_frames (
  org_id text NOT NULL,
  mode text NOT NULL,
  interaction_id text NOT NULL,
  frame text NOT NULL,
  PRIMARY KEY (org_id, mode, interaction_id),
  FOREIGN KEY (org_id, mode, interaction_id) REFERENCES interactions (org_id, mode, id) ON DELETE CASCADE
);
