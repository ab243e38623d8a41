export { startServingEndpoints } from './serve-endpoints.ts';
