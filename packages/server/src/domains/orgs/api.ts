export {
  findOrg,
  findSettings,
  hasOrgs,
  insertOrg,
  lockSettings,
  orgExists,
  resealDataKeys,
  updateSettings,
} from './store.ts';
export { type OrgRow, type OrgSettings, orgs } from './tables.ts';
