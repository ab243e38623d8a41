/** The token of a link stands behind the `#`, so it reaches no server but with the call that uses it. */
export const tokenInFragment = (): string | null => new URLSearchParams(location.hash.replace(/^#/, '')).get('token');
