export { createConsoleIdentity } from './console-identity.ts';
export { createOwner } from './create-owner.ts';
export { inviteMember } from './invite.ts';
export { pruneConsoleSessions, prunePasswordResets, pruneSignInAttempts } from './login-store.ts';
export { makeOperatorResetLink } from './reset-link.ts';
export { findActiveMembership, findMembers, lockMember } from './store.ts';
export type { MemberRow } from './tables.ts';
