export { webhookPort } from './port.ts';
export { pruneDeliveries } from './prune-deliveries.ts';
export { pruneWebhookSecrets } from './prune-secrets.ts';
export { startDelivering } from './start-delivering.ts';
