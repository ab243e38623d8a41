import type { ComputerRouting } from './computer-routing.ts';

/** Routing on a server with one process: everything runs in it. */
export const oneProcess: ComputerRouting = {
  route: (_name, work) => work,
  routeStream: (_name, open) => async (owner, given) => open(owner, given),
  isAwake: async () => true,
  answer: () => {
    throw new Error('Nobody else is there to ask.');
  },
  endStreams: () => {},
};
