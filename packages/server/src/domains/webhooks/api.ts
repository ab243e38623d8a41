export { pruneDeliveries } from './delivery-store.ts';
export { pruneWebhookSecrets } from './prune-secrets.ts';
export { type MadeEndpoint, replaceFileEndpoints } from './replace-file-managed.ts';
export { startDelivering } from './start-delivering.ts';
