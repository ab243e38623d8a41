export { createServerTools, type ServerTool, type ServerTools, type UnavailableServer } from './agent-tools.ts';
export { registerServer } from './create.ts';
export { assertMayChange } from './live-lock.ts';
export { beginOutage, forgetOutagesOf } from './outage-store.ts';
export { mostToolsAtOnce } from './shown-tool.ts';
export type { SignedIn, SignIns } from './sign-ins.ts';
export { findByAddress, findById, takenSlugs } from './store.ts';
export type { RegisteredServer } from './tables.ts';
export { updateServer } from './update.ts';
