export { type Awake, type Computers, createComputers } from './awake.ts';
export { createHolders, type Holders, type Work } from './holders.ts';
export { createHomes, forgetLostHomes, type Homes, removeLeftPlaces } from './homes.ts';
export { createHosts, startHosting } from './hosts.ts';
export type { RemoteMerge } from './remote-frames.ts';
export type { Owner } from './store.ts';
export { wakeBeforehand } from './warm.ts';
export { type ComputerWork, createComputerWork } from './work-computers.ts';
