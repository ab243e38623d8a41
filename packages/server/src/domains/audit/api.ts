export { createKeyUse, type KeyUse } from './key-use.ts';
export { recordAudit } from './record.ts';
export { pruneAudit } from './store.ts';
