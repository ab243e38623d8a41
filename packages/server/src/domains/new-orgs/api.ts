export { type Credentials, createOrg } from './create-org.ts';
