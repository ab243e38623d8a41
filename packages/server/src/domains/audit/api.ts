export { createKeyUse, type KeyUse } from './key-use.ts';
export { operatorIn } from './operator-in.ts';
export { recordAudit } from './record.ts';
export { pruneAudit } from './store.ts';
