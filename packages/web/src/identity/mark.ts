/**
 * The mark: a V whose second stroke ends in a point, a question and its answer. Its paths are on a grid of 32, and each
 * page draws them in its own colours. `mark.svg` has them on the tile of the favicon.
 */
export const mark = {
  stroke: 'M7.4 8.6 15.3 23.2 20.4 13.8',
  strokeWidth: 3.6,
  point: { x: 23.9, y: 9.2, radius: 2.5 },
} as const;

const { stroke, strokeWidth, point } = mark;

/** The mark alone, in the colour of the text around it. */
export const markSvg = (size: number): string =>
  `<svg class="mark" viewBox="4.5 4.5 23 23" width="${size}" height="${size}" aria-hidden="true">${drawing('currentColor')}</svg>`;

function drawing(colour: string): string {
  return `<path d="${stroke}" fill="none" stroke="${colour}" stroke-width="${strokeWidth}" stroke-linecap="round" stroke-linejoin="round"/><circle cx="${point.x}" cy="${point.y}" r="${point.radius}" fill="${colour}"/>`;
}
