import { createLimiter } from '../../platform/async/limiter.ts';

/** Kind and size from the first bytes. Nothing is decoded, so a forged size costs no memory. */
export type PictureSize = {
  mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  width: number;
  height: number;
};

/** Null if the content is broken or is none of the four kinds that models read. */
export function pictureSizeOf(content: Uint8Array): PictureSize | null {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  try {
    const size = sizeIn(bytes);
    return size && size.width > 0 && size.height > 0 ? size : null;
  } catch {
    return null;
  }
}

function sizeIn(bytes: Buffer): PictureSize | null {
  if (bytes.subarray(0, 8).equals(pngSignature) && bytes.toString('latin1', 12, 16) === 'IHDR') {
    return { mediaType: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  if (/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) {
    return { mediaType: 'image/gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  }
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP') return webpSize(bytes);
  return bytes.readUInt16BE(0) === 0xffd8 ? jpegSize(bytes) : null;
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function webpSize(bytes: Buffer): PictureSize | null {
  const mediaType = 'image/webp';
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { mediaType, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case 'VP8 ':
      return { mediaType, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21);
      return { mediaType, width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    default:
      return null;
  }
}

/** The size is in the header of the first frame, after segments of any length. */
function jpegSize(bytes: Buffer): PictureSize | null {
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] as number;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isFrame(marker)) {
      return { mediaType: 'image/jpeg', width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    // The image data begins or ends without a frame header.
    if (marker === 0xda || marker === 0xd9) return null;
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

/** C0 to CF except tables, arithmetic conditioning and extensions. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

type FittingPicture = { mediaType: string; content: Uint8Array; width: number; height: number };

/** Scales a picture to the size that models see, or returns the reason why it cannot be shown. */
export type FitPicture = (content: Uint8Array) => Promise<FittingPicture | { refused: string }>;

/** Vendors scale larger pictures down to about this size and bill them no higher. */
const maxEdge = 1568;
const maxBytes = 1_572_864;
/** Vendors refuse pictures above these limits. */
const vendorMaxEdge = 8000;
const vendorMaxBytes = 3_670_016;
/** A decoded pixel takes four bytes, so a file of a few kilobytes can expand to gigabytes. */
const maxPixels = 32_000_000;
const quality = 80;

/** One at a time: scaling runs off the main thread and may take 128 MB. */
const one = createLimiter({ atOnce: 1 });

export const fitPicture: FitPicture = async (content) => {
  const size = pictureSizeOf(content);
  if (!size) return { refused: 'it is of no kind that models read' };
  const { mediaType, width, height } = size;
  if (width * height > maxPixels) return { refused: `${width} × ${height} points are too many` };
  const longest = Math.max(width, height);
  if (longest <= maxEdge && content.byteLength <= maxBytes) return { mediaType, content, width, height };
  const smaller = await one.run('', () => scaleDown(content, size)).catch(() => null);
  if (smaller && smaller.content.byteLength <= vendorMaxBytes) return smaller;
  if (longest > vendorMaxEdge || content.byteLength > vendorMaxBytes) {
    return { refused: `${width} × ${height} points in ${Math.ceil(content.byteLength / 1024)} KB are too many` };
  }
  return { mediaType, content, width, height };
};

/** Null if the image library is not installed. JPEG has no transparency, so only a JPEG stays one. */
async function scaleDown(
  content: Uint8Array,
  { mediaType, width, height }: { mediaType: string; width: number; height: number },
): Promise<FittingPicture | null> {
  const library = await import('@napi-rs/image').catch(() => null);
  if (!library) return null;
  const scale = Math.min(1, maxEdge / Math.max(width, height));
  const to = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
  const picture = new library.Transformer(content).resize(to.width, to.height);
  const isJpeg = mediaType === 'image/jpeg';
  const made = isJpeg ? await picture.jpeg(quality) : await picture.webp(quality);
  const { width: madeWidth, height: madeHeight } = pictureSizeOf(made) ?? to;
  return { mediaType: isJpeg ? 'image/jpeg' : 'image/webp', content: made, width: madeWidth, height: madeHeight };
}
