import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Presses Tab until the element has the focus, and fails if that is not visible. */
export async function tabTo(page: Page, target: Locator, key = 'Tab'): Promise<void> {
  await target.waitFor();
  for (let pressed = 0; pressed < 150; pressed++) {
    if (await target.evaluate((each) => each === document.activeElement)) {
      await expect.poll(() => target.evaluate(isFocusShown)).toBe(true);
      return;
    }
    await page.keyboard.press(key);
  }
  throw new Error(`150 times ${key} do not lead to ${target}.`);
}

/** Runs in the page: the element has an outline, and is not out of sight. */
function isFocusShown(element: Element): boolean {
  const { top, bottom, width } = element.getBoundingClientRect();
  const shown = [
    element,
    ...element.querySelectorAll('*'),
    element.parentElement,
    element.parentElement?.parentElement,
  ];
  const hasOutline = shown.some((each) => {
    if (!each) return false;
    const { outlineStyle, outlineWidth } = getComputedStyle(each);
    return outlineStyle !== 'none' && outlineWidth !== '0px';
  });
  return hasOutline && width > 0 && bottom > 0 && top < innerHeight;
}
