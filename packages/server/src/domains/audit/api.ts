export { createKeyUse, type KeyUse } from './key-use.ts';
export { operatorIn, recordAudit } from './record.ts';
export { pruneAudit } from './store.ts';
