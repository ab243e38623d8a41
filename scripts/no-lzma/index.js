throw new Error('Archives in xz are not supported.');
