/** A picture as an address that holds it whole. */
export const jpegAddress = (picture: Buffer) => `data:image/jpeg;base64,${picture.toString('base64')}`;
