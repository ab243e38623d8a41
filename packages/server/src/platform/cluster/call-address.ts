/** Where the calls of other processes come in, on the same port as everything else. */
export const callPath = '/internal/calls/';
export const sealHeader = 'vestra-process-call';
