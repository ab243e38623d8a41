export { createConsoleIdentity } from './console-identity.ts';
export { createOwner } from './create-owner.ts';
export { inviteMember } from './invite.ts';
export { pruneConsoleSessions } from './login-store.ts';
