export { findOrg, findSettings, hasOrgs, insertOrg, orgExists, resealDataKeys } from './store.ts';
export { type OrgRow, type OrgSettings, orgSettings, orgs } from './tables.ts';
