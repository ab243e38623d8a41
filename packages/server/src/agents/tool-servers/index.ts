export type { KeptSessions } from '../mcp-client/mcp-client.ts';
export type { Sample, SampledPrompt } from '../mcp-client/server-requests.ts';
export { createServerTools, type ServerTool, type ServerTools, type UnavailableServer } from './agent-tools.ts';
export { maxToolsAtOnce } from './model-tools.ts';
export type { AppCredential, SignIns } from './server-access.ts';
export { sameAddress, sameHeaders } from './server-settings.ts';
export { assertMayChange, registerServer, updateServer } from './servers.ts';
export { beginOutage, findByAddress, findById, takenSlugs } from './store.ts';
export type { RegisteredServer } from './tables.ts';
