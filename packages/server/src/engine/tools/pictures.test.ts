import { Transformer } from '@napi-rs/image';
import { describe, expect, it } from 'vitest';
import { fitPicture, pictureSizeOf } from './pictures.ts';

const painted = (width: number, height: number) =>
  Transformer.fromRgbaPixels(new Uint8Array(width * height * 4).fill(200), width, height);

/** A PNG header with this size and no content. */
function headerOf(width: number, height: number): Buffer {
  const head = Buffer.alloc(33);
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(head);
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head;
}

describe('pictureSizeOf', () => {
  it.each([
    ['png', 'image/png'],
    ['jpeg', 'image/jpeg'],
    ['webp', 'image/webp'],
    ['webpLossless', 'image/webp'],
  ] as const)('reads the size of a %s [PIC-005]', async (kind, mediaType) => {
    expect(pictureSizeOf(await painted(37, 21)[kind]())).toEqual({ mediaType, width: 37, height: 21 });
  });

  it('reads the size of a gif', () => {
    const gif = Buffer.from('47494638396125001500', 'hex');
    expect(pictureSizeOf(gif)).toEqual({ mediaType: 'image/gif', width: 37, height: 21 });
  });

  it('returns null for other content and for a truncated picture', async () => {
    const whole = await painted(37, 21).jpeg();
    for (const bytes of [Buffer.alloc(0), Buffer.from('<svg width="9">'), whole.subarray(0, 20), headerOf(0, 5)]) {
      expect(pictureSizeOf(bytes)).toBeNull();
    }
  });
});

describe('fitPicture', () => {
  it('leaves a small picture unchanged [PIC-005]', async () => {
    const content = await painted(1280, 800).png();
    expect(await fitPicture(content)).toEqual({ mediaType: 'image/png', content, width: 1280, height: 800 });
  });

  it.each([
    ['png', 'image/webp'],
    ['jpeg', 'image/jpeg'],
  ] as const)('scales a large %s down as %s [PIC-005]', async (kind, mediaType) => {
    const made = await fitPicture(await painted(500, 2500)[kind]());
    expect(made).toMatchObject({ mediaType, width: 314, height: 1568 });
    expect('content' in made && pictureSizeOf(made.content)).toMatchObject({ width: 314, height: 1568 });
  });

  it.each([
    ['of 50 MB', Buffer.concat([headerOf(5000, 5000), Buffer.alloc(50 * 1_048_576)])],
    ['within the vendor limits that would expand to a quarter of a gigabyte', headerOf(7999, 7999)],
    ['that is broken and above the vendor limits', headerOf(10, 9000)],
    ['of an unknown kind', Buffer.from('GIF89')],
  ])('refuses a picture %s, with a reason [PIC-005]', async (_what, content) => {
    expect(await fitPicture(content)).toEqual({ refused: expect.any(String) });
  });
});
