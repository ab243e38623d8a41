export { createKeyUse, type KeyUse } from './key-use.ts';
export { operatorIn } from './operator-in.ts';
export { pruneAudit } from './prune-audit.ts';
export { recordAudit } from './record.ts';
