/** Whose spend a total holds. No user id has these characters or is empty, so neither meets a user's. */
export const wholeOrg = '*';
export const orgsOwnAgent = '';

/** Keeps the spend of people who were erased. */
export const erasedUser = 'unknown';

export const spenderOf = (userId: string | null): string => userId ?? orgsOwnAgent;
