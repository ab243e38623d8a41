import { createLimiter } from '../../platform/async/limiter.ts';
import { pictureSizeOf } from './picture-size.ts';

type FittingPicture = { mediaType: string; content: Uint8Array; width: number; height: number };

/** A picture as models are shown it, or in words why not. */
export type FitPicture = (content: Uint8Array) => Promise<FittingPicture | { refused: string }>;

/** Vendors scale what is larger down to about this themselves before they look at it, and bill it no higher. */
const longestEdge = 1568;
const mostBytes = 1_572_864;
/** Vendors refuse these where they cannot be made smaller here. */
const longestRefusedAbove = 8000;
const mostRefusedAbove = 3_670_016;
/** Decoded, a point takes four bytes: a few kilobytes can claim to be gigabytes. */
const mostPoints = 32_000_000;
const quality = 80;

/** One at a time: each may take 128 MB while it is made smaller, off the main thread. */
const one = createLimiter({ atOnce: 1 });

export const fitPicture: FitPicture = async (content) => {
  const size = pictureSizeOf(content);
  if (!size) return { refused: 'it is of no kind that models read' };
  const { mediaType, width, height } = size;
  if (width * height > mostPoints) return { refused: `${width} × ${height} points are too many` };
  const longest = Math.max(width, height);
  if (longest <= longestEdge && content.byteLength <= mostBytes) return { mediaType, content, width, height };
  const smaller = await one.run('', () => smallerOf(content, size)).catch(() => null);
  if (smaller && smaller.content.byteLength <= mostRefusedAbove) return smaller;
  if (longest > longestRefusedAbove || content.byteLength > mostRefusedAbove) {
    return { refused: `${width} × ${height} points in ${Math.ceil(content.byteLength / 1024)} KB are too many` };
  }
  return { mediaType, content, width, height };
};

/** Null where this machine has nothing to do it with. JPEG knows no transparency: only what came as JPEG stays one. */
async function smallerOf(
  content: Uint8Array,
  { mediaType, width, height }: { mediaType: string; width: number; height: number },
): Promise<FittingPicture | null> {
  const library = await import('@napi-rs/image').catch(() => null);
  if (!library) return null;
  const scale = Math.min(1, longestEdge / Math.max(width, height));
  const to = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
  const picture = new library.Transformer(content).resize(to.width, to.height);
  const isJpeg = mediaType === 'image/jpeg';
  const made = isJpeg ? await picture.jpeg(quality) : await picture.webp(quality);
  const { width: madeWidth, height: madeHeight } = pictureSizeOf(made) ?? to;
  return { mediaType: isJpeg ? 'image/jpeg' : 'image/webp', content: made, width: madeWidth, height: madeHeight };
}
