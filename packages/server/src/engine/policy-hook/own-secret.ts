import { createHmac } from 'node:crypto';

/** The secret that the policy hook is signed with where the operator has set none: the same in every process. */
export const ownPolicyHookSecret = (signingSecret: Buffer): string =>
  `whsec_${createHmac('sha256', signingSecret).update('policy-hook').digest('base64')}`;
