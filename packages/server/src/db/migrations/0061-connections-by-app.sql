-- The connections of one app are listed without reading those of the others.
CREATE INDEX connections_by_app ON connections (org_id, mode, app, id DESC);
