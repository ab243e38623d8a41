import type { Interaction } from './resources.ts';

/**
 * The body of a yes with all that the interaction says it needs. `present_user` vouches that the person who was asked has
 * said it just now: code that decides for itself has no business with it.
 */
export const yesTo = ({ needs, nonce }: Pick<Interaction, 'needs' | 'nonce'>) => ({
  approve: true,
  ...(needs.includes('present_user') && { present_user: true }),
  ...(needs.includes('nonce') && nonce !== undefined && { nonce }),
});
