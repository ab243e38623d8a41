export { testRunPort } from './port.ts';
