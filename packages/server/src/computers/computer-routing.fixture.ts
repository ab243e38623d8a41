import type { Holders } from './computer-routing.ts';

/** Of a server that is one process: whatever is done is done in it. */
export const oneProcess: Holders = {
  atHolder: (_name, work) => work,
  streamAtHolder: (_name, open) => async (owner, given) => open(owner, given),
  isAwake: async () => true,
  answer: () => {
    throw new Error('Nobody else is there to ask.');
  },
  endStreams: () => {},
};
