export { type Awake, type Computers, createComputers } from './awake.ts';
export type { Owner } from './store.ts';
export { wakeBeforehand } from './warm.ts';
export { type ComputerWork, createComputerWork } from './work-computers.ts';
