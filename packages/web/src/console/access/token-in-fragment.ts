/** The token is in the fragment, so that it is sent only with the call that uses it. */
export const tokenInFragment = (): string | null => new URLSearchParams(location.hash.replace(/^#/, '')).get('token');
