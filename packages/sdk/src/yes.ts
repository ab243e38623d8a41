import type { Interaction } from './resources.ts';

/**
 * The body of an approval with everything that the interaction needs. `present_user` confirms that the user approved it
 * just now; code that decides by itself must not send it.
 */
export const yesTo = ({ needs, nonce }: Pick<Interaction, 'needs' | 'nonce'>) => ({
  approve: true,
  ...(needs.includes('present_user') && { present_user: true }),
  ...(needs.includes('nonce') && nonce !== undefined && { nonce }),
});
