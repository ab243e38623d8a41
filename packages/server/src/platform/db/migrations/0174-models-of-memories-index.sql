-- Finds the facts whose vectors are of another model, after the setting of the embeddings has changed.
DROP INDEX CONCURRENTLY IF EXISTS memories_by_vector_model;
CREATE INDEX CONCURRENTLY memories_by_vector_model ON memories (vector_model);
