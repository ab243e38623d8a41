/** The browser or its page has ended, for whatever reason. */
export const isBrowserGone = (error: unknown): boolean => nameOf(error) === 'BrowserGone';

/** The page could not do what it was asked, mostly because it went away meanwhile. */
export const isPageTrouble = (error: unknown): boolean => nameOf(error) === 'PageTrouble';

const nameOf = (error: unknown) => (error as Error | null)?.name;
