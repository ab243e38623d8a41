/** The browser has ended, or the target has: nothing that was asked of it will be answered. */
export class BrowserGone extends Error {
  override readonly name = 'BrowserGone';
}

/** The browser could not do what it was asked: mostly the page went away meanwhile. */
export class PageFailed extends Error {
  override readonly name = 'PageFailed';
}
