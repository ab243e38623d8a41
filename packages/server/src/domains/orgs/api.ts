export { findOrg, findSettings, hasOrgs, insertOrg, orgExists, resealDataKeys } from './store.ts';
export { type OrgRow, type OrgSettings, orgs } from './tables.ts';
