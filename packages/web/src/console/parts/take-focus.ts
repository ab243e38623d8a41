/** A `ref` callback that focuses the main field of a page. */
export const takeFocus = (element: HTMLElement | null): void => element?.focus();
