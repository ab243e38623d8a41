export { webhookPort } from './port.ts';
export { startDelivering } from './start-delivering.ts';
