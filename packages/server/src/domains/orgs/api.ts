export { findOrg, findSettings, insertOrg } from './store.ts';
export { type OrgRow, type OrgSettings, orgSettings, orgs } from './tables.ts';
