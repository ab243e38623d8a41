export { webhookPort } from './port.ts';
