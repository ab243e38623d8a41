-- The encoder had read no further than the beginning of these. The next search makes their vectors anew, one for each piece.
UPDATE memories SET vector = NULL, vector_model = NULL WHERE length(text) > 250;
