/** Formats that every browser draws and that cannot run scripts. */
const pictureTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

export const isPicture = (type: string | null): boolean => type !== null && pictureTypes.has(type);

/** A picture takes its place before its type is known, so that nothing moves. */
export const isNamedAsPicture = (filename: string): boolean => /\.(png|jpe?g|gif|webp|avif)$/i.test(filename);
