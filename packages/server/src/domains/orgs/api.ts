export { findOrg, insertOrg } from './store.ts';
export { type OrgRow, orgs } from './tables.ts';
