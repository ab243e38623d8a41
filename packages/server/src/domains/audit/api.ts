export { createKeyUse, type KeyUse } from './key-use.ts';
export { type AuditAction, recordAudit } from './record.ts';
