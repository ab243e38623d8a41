export { findOrg, insertOrg, lockOrg } from './store.ts';
export { type OrgRow, orgs } from './tables.ts';
