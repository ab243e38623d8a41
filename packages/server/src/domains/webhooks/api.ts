export { pruneDeliveries, readingDueDeliveries } from './delivery-store.ts';
export { type MadeEndpoint, replaceFileEndpoints } from './replace-file-managed.ts';
export { signedHeaders } from './sign.ts';
export { startDelivering } from './start-delivering.ts';
export { pruneWebhookSecrets } from './store.ts';
export { assertMayRoll, newSecret } from './webhook.ts';
