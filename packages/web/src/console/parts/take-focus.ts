/** As `ref` of what one comes to a page for: its field, not the link before it. */
export const takeFocus = (element: HTMLElement | null): void => element?.focus();
