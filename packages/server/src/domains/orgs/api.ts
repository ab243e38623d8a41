export {
  findOrg,
  findSettings,
  hasOrgs,
  insertOrg,
  isEmbedOrigin,
  lockSettings,
  orgExists,
  resealDataKeys,
  updateSettings,
} from './store.ts';
export { type OrgRow, type OrgSettings, orgs } from './tables.ts';
